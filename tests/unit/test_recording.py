"""What is read as a recording."""

import contextlib
import os

import msgspec
import pytest

from reportgen.errors import InputUnreadable, UsageError
from reportgen.recording import Generator, Manifest, RecordedCase, Recording, WorkloadInfo, write_manifest
from reportgen.resources import replacing


def _open(folder, case_folder="prefill", **changes):
    manifest = Manifest(
        generator=Generator(name="reportgen", version="1"),
        created_at="2026-01-01T00:00:00Z",
        command="",
        workload=WorkloadInfo(name="w", description=""),
        cases=(RecordedCase(name="prefill", phase="prefill", folder=case_folder),),
    )
    write_manifest(folder, msgspec.structs.replace(manifest, **changes))
    return Recording.open(folder)


@pytest.mark.parametrize("case_folder", ["prefill", "batch=1.2_x", "..a"])
def test_the_folder_of_a_case_is_a_name(tmp_path, case_folder):
    assert _open(tmp_path, case_folder).manifest.cases[0].folder == case_folder


@pytest.mark.parametrize("case_folder", ["", ".", "..", "../../etc", "/etc", "a/b", "a\\b", "a\0b", "x" * 256])
def test_a_case_that_points_out_of_its_recording_is_refused(tmp_path, case_folder):
    with pytest.raises(InputUnreadable, match="does not lie in the recording"):
        _open(tmp_path, case_folder)


def test_a_later_minor_version_is_read_and_another_major_one_refused(tmp_path):
    assert _open(tmp_path, schema_version="1.9").manifest.schema_version == "1.9"
    with pytest.raises(InputUnreadable, match=r"schema_version is '2.0', not 1.x"):
        _open(tmp_path, schema_version="2.0")


def test_a_manifest_that_finds_no_room_is_told_and_the_one_before_is_kept(tmp_path):
    manifest = Manifest(
        generator=Generator(name="reportgen", version="0"),
        created_at="",
        command="",
        workload=WorkloadInfo(name="w", description=""),
    )
    write_manifest(tmp_path, manifest)
    (tmp_path / f"recording.json.{os.getpid()}.partial").symlink_to("/dev/full")
    with pytest.raises(UsageError, match="No space left on device"):
        write_manifest(tmp_path, manifest)
    assert Recording.open(tmp_path).manifest == manifest


def test_a_file_is_replaced_whole_or_not_at_all(tmp_path):
    path = tmp_path / "index.html"
    path.write_text("before")

    with contextlib.suppress(RuntimeError), replacing(path) as partial:
        partial.write_text("half")
        raise RuntimeError
    assert [(file.name, file.read_text()) for file in tmp_path.iterdir()] == [("index.html", "before")]

    with replacing(path) as partial:
        partial.write_text("after")
        assert path.read_text() == "before"
    assert [(file.name, file.read_text()) for file in tmp_path.iterdir()] == [("index.html", "after")]
