"""No module needs itself: neither at the top of files nor by imports inside of functions."""

from graphlib import TopologicalSorter

import grimp


def test_no_module_imports_itself_by_way_of_others() -> None:
    graph = grimp.build_graph("coderelay", exclude_type_checking_imports=True, cache_dir=None)
    graph.remove_import(importer="coderelay", imported="coderelay.public")  # connect() loads it late
    TopologicalSorter({each: graph.find_modules_directly_imported_by(each) for each in graph.modules}).prepare()
