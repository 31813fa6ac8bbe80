from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('evaluation', '0003_compared_systems'),
    ]

    operations = [
        migrations.RenameField('ratingsource', 'shown', 'material'),
        migrations.AlterField(
            model_name='ratingsource',
            name='material',
            field=models.JSONField(help_text='Query, title and studies, as raters see them.'),
        ),
        migrations.RenameField('pagetext', 'shown', 'displayed_text'),
        migrations.AlterField(
            model_name='pagetext',
            name='displayed_text',
            field=models.TextField(help_text='The text as raters see it, with normalised typography.'),
        ),
        migrations.RenameField('rating', 'place', 'position'),
    ]
