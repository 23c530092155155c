import pytest

from transformer_course.grading.incoming.download_names import DownloadName, classroom_prefix, read_download_name


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("lovelaceada_12345_67890_01_lookup.ipynb", DownloadName("lovelaceada", "12345")),
        ("lovelaceada_LATE_12345_67890_01_lookup-1.ipynb", DownloadName("lovelaceada", "12345", True)),
        ("Ada Lovelace_98765_assignsubmission_file_", DownloadName("Ada Lovelace", "98765")),
        ("Ada Lovelace_98765_assignsubmission_file", DownloadName("Ada Lovelace", "98765")),
        ("Ada Lovelace_98765_assignsubmission_file_01_lookup.ipynb", DownloadName("Ada Lovelace", "98765")),
        ("van_der Berg_1_assignsubmission_file_", DownloadName("van_der Berg", "1")),
        ("ada_01_lookup.ipynb", None),
        ("group_1_01_lookup.ipynb", None),
        ("ada", None),
        ("", None),
    ],
)
def test_a_name_tells_whose_a_file_is(name: str, message: DownloadName | None):
    assert read_download_name(name) == message


@pytest.mark.parametrize(
    ("folder", "students", "repositories", "prefix"),
    [
        ("w1-submissions", ["w1-ada"], [], "w1-"),
        ("w1-submissions", ["w1-ada", "other"], [], ""),
        ("class", ["w1-ada", "w1-adam-b"], ["w1-ada", "w1-adam-b"], "w1-"),
        ("class", ["w1-ada", "w1-ben"], ["w1-ada"], ""),
        ("class", ["ada", "ben"], ["ada", "ben"], ""),
        ("class", ["w1-ada"], ["w1-ada"], ""),
        ("class", [], [], ""),
    ],
)
def test_what_stands_before_the_names_of_users_is_found_only_where_it_is_sure(
    folder: str, students: list[str], repositories: list[str], prefix: str
):
    assert classroom_prefix(folder, students, repositories) == prefix
