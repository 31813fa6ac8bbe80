from django.db import migrations, models

LEVELS = [
    ("document", "Document"),
    ("sentence", "Sentence"),
    ("proposition", "Proposition"),
    ("pair", "Pair"),
    ("answer", "Answer"),
    ("question", "Question"),
]


class Migration(migrations.Migration):
    dependencies = [("generation", "0004_level_of_pairs")]

    operations = [
        migrations.AlterField("version", "level", models.CharField(choices=LEVELS, max_length=12)),
        migrations.AlterField("commonprobe", "level", models.CharField(choices=LEVELS, max_length=20)),
    ]
