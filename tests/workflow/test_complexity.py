"""C-44, C-45, X-34: which prompts are tasks of many steps; each rule at its boundary and one below."""

import unicodedata

import pytest

from coderelay.agents.native.workflow.prompt_complexity import Rule, why_complex

ACCENTED = unicodedata.normalize("NFD", "é")  # two code points


@pytest.mark.quick
@pytest.mark.parametrize(
    ("prompt", "rule"),
    [
        ("x" * 40, "length"),
        ("x" * 39, None),
        (f"  \n\t{'x' * 40}\u3000\n", "length"),
        (f"{' ' * 30}{'x' * 39}{' ' * 30}", None),
        (f"x{' ' * 38}x", "length"),
        (f"x{' ' * 37}x", None),
        ("修" * 40, "length"),
        ("修" * 39, None),
        ("Ａ" * 40, "length"),
        ("Ａ" * 39, None),
        ("😀" * 40, "length"),
        ("😀" * 39, None),
        (ACCENTED * 20, "length"),
        (ACCENTED * 19 + "e", None),
        ("é" * 39, None),
        ("", None),
        ("   \n ", None),
        ("修复登录", None),
    ],
)
def test_c44_length_is_counted_in_unicode_characters_after_trimming(prompt: str, rule: Rule | None) -> None:
    assert why_complex(prompt) == rule


@pytest.mark.parametrize(
    ("prompt", "rule"),
    [
        ("重构并且优化登录", "keywords"),
        ("重构并且改登录", None),
        ("重构重构重构再重构", None),
        ("并且同时另外", "keywords"),
        ("并且同时同时", None),
        ("分别迁移 步骤", "keywords"),
        ("refactor and also optimise", "keywords"),
        ("refactor and optimise", None),
        ("REFACTOR as well as Optimize", "keywords"),
        ("migrate respectively in steps", "keywords"),
        ("migration refactoring optimization", "keywords"),
        ("migration refactoring optimum", None),
        ("重构 migrate 优化", "keywords"),
        ("重构 refactor migrate", None),
        ("footsteps refactor migrate", None),
    ],
)
def test_c44_x34_keywords_count_once_each_in_either_language(prompt: str, rule: Rule | None) -> None:
    assert why_complex(prompt) == rule


@pytest.mark.parametrize("mark", ["，", "。", "；", "、", ",", "\n", "\r\n"])
def test_c44_three_segments_between_any_of_the_marks(mark: str) -> None:
    assert why_complex(f"登录{mark}注册{mark}退出") == "segments"
    assert why_complex(f"登录{mark}注册") is None
    assert why_complex(f"{mark}登录{mark}{mark} {mark}注册{mark}") is None


@pytest.mark.parametrize("mark", [";", ".", "!", "：", "！", "\t", "．", "|"])
def test_c44_no_other_mark_ends_a_segment(mark: str) -> None:
    assert why_complex(f"登录{mark}注册{mark}退出{mark}") is None


@pytest.mark.quick
@pytest.mark.parametrize(
    "prompt",
    [
        "1. 2. 3.",
        "1. a 2. b 3. c",
        "1) 2) 3)",
        "1)a 2)b 3)c",
        "(1) a (2) b (3) c",
        "（1）甲（2）乙（3）丙",
        "修复1.登录2.测试3.文档",
        "１．甲 ２．乙 ３．丙",
        "１）甲 ２）乙 ３）丙",
        "一、甲 二、乙 三、丙",
        "（一）甲（二）乙（三）丙",
        "A. x B. y C. z",
        "a) x b) y c) z",
        "i) x ii) y iii) z",
        "A/B/C",
        "A / B / C",
        "A／B／C",
        "A/B/C/D",
        "实现A/B/C三个接口",
        "Ａ/Ｂ/Ｃ",
        "Ａ／Ｂ／Ｃ",
        "1.fix 2.add 3.test",
        "1.Fix it 2.add one, 3.test all",
        "１．fix ２．add ３．test",
        "do A/B/C.",
        "登录/注册/退出",
        "实现 登录／注册／退出。",
        "①②③",
        "① 甲 ② 乙 ③ 丙",
        "⒈甲 ⒉乙 ⒊丙",
        "❶ a ❷ b ❸ c",
        "- a\n- b\n- c",
        "* a\n  * b\n* c",
        "1. a\n1. b\n1. c",
        "- [ ] a\n- [x] b\n- [ ] c",
    ],
)
def test_c44_c45_an_enumeration_of_three_is_found_first(prompt: str) -> None:
    assert why_complex(prompt) == "enumeration"
    assert why_complex(f"{prompt} {'重构，迁移，优化，' * 10}") == "enumeration"


@pytest.mark.parametrize(
    "prompt",
    [
        "1. 2.",
        "1) a 2) b",
        "（1）甲（2）乙",
        "3. 2. 1.",
        "2. 3. 4.",
        "A/B",
        "A/C/B",
        "A/B/C.py",
        "A/B/C/d.py",
        "src/A/B/C",
        "a/b/c.py",
        "/usr/local/bin",
        "src/app/main",
        "and/or",
        "read/write/execute",
        "登录/注册",
        "年/月/日",
        "./文档/说明/内容.md",
        "文档/说明/内容.md",
        "①②",
        "③②①",
        "- a\n- b",
        "1.2.3",
        "v1. v2. v3.",
        "1.0 2.0 3.0",
        "1.txt 2.txt 3.txt",
        "1.x 2.x 3.x",
        "1.fix 2.add",
        "1.fix.txt 2.add.txt 3.test.txt",
        "Ａ/Ｂ",
        "x/1. x/2. x/3.",
        "f(1) g(2) h(3)",
        "127.0.0.1:3",
        "2024-1-2 3",
        "-a -b -c",
    ],
)
def test_c44_what_only_looks_like_an_enumeration_is_none(prompt: str) -> None:
    assert why_complex(prompt) is None


def test_c45_the_first_rule_that_holds_is_the_answer() -> None:
    segments = "登录，注册，退出"
    keywords = f"{segments}，重构并且优化"
    length = f"{keywords}{'长' * 40}"
    assert [why_complex(each) for each in (segments, keywords, length, f"A/B/C {length}")] == [
        "segments",
        "keywords",
        "length",
        "enumeration",
    ]
