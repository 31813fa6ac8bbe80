from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("evaluation", "0001_squashed_0004_rating_secret")]

    operations = [
        migrations.AlterField("Preference", "criterion", models.CharField(max_length=40)),
        migrations.AlterField("Rating", "criterion", models.CharField(max_length=40)),
        migrations.AlterField(
            "RatingSource",
            "review",
            models.CharField(
                blank=True,
                help_text="Review of the source. Sources of one review form a cluster.",
                max_length=200,
            ),
        ),
    ]
