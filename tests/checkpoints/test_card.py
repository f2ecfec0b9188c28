from bertsmith.checkpoints.card import compose_card


def test_card() -> None:
    text = compose_card("A model", {"tokens": 1234567, "loss": 2.5, "a|b": "c\nd"}, text="Hello.")
    assert text.startswith('---\nlibrary_name: "transformers"\npipeline_tag: "fill-mask"\n')
    assert "\n# A model\n\nHello.\n\n| Fact | Value |\n" in text
    assert "| tokens | 1,234,567 |\n| loss | 2.5 |\n| a\\|b | c d |\n" in text
    extra = compose_card("x", {}, front_matter={"license": "mit", "tags": ["one"]})
    assert 'license: "mit"\n' in extra
    assert 'tags: ["one"]\n' in extra
