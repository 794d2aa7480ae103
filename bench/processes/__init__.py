"""Programs that a row starts beside itself."""

import sys
from pathlib import Path

_HERE = Path(__file__).parent
OPENER = [sys.executable, str(_HERE / "opener.py")]
ANSWERER = [sys.executable, str(_HERE / "answerer.py")]
FOLLOWER = [sys.executable, str(_HERE / "follower.py")]
CROWD = [sys.executable, str(_HERE / "crowd.py")]
MANY_SESSIONS = [sys.executable, str(_HERE / "many_sessions.py")]
BARE_PROMPT = [sys.executable, str(_HERE / "bare_prompt.py")]
FAN_OUT = [sys.executable, str(_HERE / "fan_out.py")]
