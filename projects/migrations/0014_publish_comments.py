from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [("projects", "0013_indexes_that_fit")]

    operations = [
        migrations.AddField(
            model_name="project",
            name="publish_comments",
            field=models.BooleanField(
                default=False, help_text="Whether releases hold what annotators wrote beside their answers."
            ),
        )
    ]
