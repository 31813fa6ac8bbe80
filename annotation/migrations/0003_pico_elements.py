import django.db.models.deletion
from django.db import migrations, models

#: (old name, new name, foreign key of the element, model of its fragments)
MODELS = [
    ("PicoSlot", "PicoElement", "cluster", "PicoFragment"),
    ("TupleSlot", "TupleElement", "pico_tuple", "TupleFragment"),
    ("SplitSlot", "SplitElement", "split_tuple", "SplitFragment"),
]
#: Constraints by the model's old name. They name the field, so they are added again under its new name.
CONSTRAINTS = {
    "PicoSlot": ("one_pico_slot_each", "a_blank_slot_has_no_text"),
    "TupleSlot": ("one_tuple_slot_each", "only_a_blank_comparator_stands_for"),
    "SplitSlot": ("one_split_slot_each", "only_a_blank_split_comparator_stands_for"),
}
BLANK_HAS_NO_TEXT = models.Q(form="blank", text="") | ~models.Q(form="blank") & ~models.Q(text="")
ONLY_BLANK_STANDS_FOR = models.Q(stands_for="") | models.Q(element="c", text="")


def per_position(fragment):
    return f"one_{fragment.removesuffix('Fragment').lower()}_fragment_per_position"


class Migration(migrations.Migration):
    """Rename the slots of PICO tuples to elements."""

    dependencies = [("annotation", "0002_citations_of_reviews")]

    operations = [
        *(
            migrations.RemoveConstraint(model_name=old, name=name)
            for old, names in CONSTRAINTS.items()
            for name in names
        ),
        *(
            migrations.RemoveConstraint(model_name=fragment, name=per_position(fragment))
            for *_, fragment in MODELS
        ),
        *(migrations.RenameModel(old_name=old, new_name=new) for old, new, *_ in MODELS),
        *(migrations.RenameField(model_name=new, old_name="slot", new_name="element") for _, new, *_ in MODELS),
        *(
            migrations.RenameField(model_name=fragment, old_name="slot", new_name="element")
            for *_, fragment in MODELS
        ),
        migrations.RenameField(model_name="SplitElement", old_name="of", new_name="split_tuple"),
        *(
            migrations.AlterModelOptions(name=new, options={"ordering": [f"{owner}_id", "id"]})
            for _, new, owner, _ in MODELS
        ),
        *(
            migrations.AlterModelOptions(name=fragment, options={"ordering": ["element_id", "position"]})
            for *_, fragment in MODELS
        ),
        migrations.AlterField(
            model_name="TupleElement",
            name="pico_tuple",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT, related_name="elements", to="annotation.picotuple"
            ),
        ),
        migrations.AlterField(
            model_name="SplitElement",
            name="split_tuple",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT, related_name="elements", to="annotation.splittuple"
            ),
        ),
        *(
            migrations.AddConstraint(
                model_name=new,
                constraint=models.UniqueConstraint(
                    fields=(owner, "element"), name=f"one_{new.removesuffix('Element').lower()}_element_each"
                ),
            )
            for _, new, owner, _ in MODELS
        ),
        migrations.AddConstraint(
            model_name="PicoElement",
            constraint=models.CheckConstraint(condition=BLANK_HAS_NO_TEXT, name="a_blank_element_has_no_text"),
        ),
        migrations.AddConstraint(
            model_name="TupleElement",
            constraint=models.CheckConstraint(
                condition=ONLY_BLANK_STANDS_FOR, name="only_a_blank_comparator_stands_for"
            ),
        ),
        migrations.AddConstraint(
            model_name="SplitElement",
            constraint=models.CheckConstraint(
                condition=ONLY_BLANK_STANDS_FOR, name="only_a_blank_split_comparator_stands_for"
            ),
        ),
        *(
            migrations.AddConstraint(
                model_name=fragment,
                constraint=models.UniqueConstraint(fields=("element", "position"), name=per_position(fragment)),
            )
            for *_, fragment in MODELS
        ),
    ]
