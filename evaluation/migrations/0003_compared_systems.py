import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('evaluation', '0002_longer_keys'),
    ]

    operations = [
        migrations.RemoveConstraint(model_name='pagetextof', name='one_entry_per_entrant'),
        migrations.RemoveConstraint(model_name='entrant', name='one_entrant_per_number'),
        migrations.RenameModel('Entrant', 'ComparedSystem'),
        migrations.RenameField('pagetextof', 'entrant', 'system'),
        migrations.RenameField('pagetext', 'entrants', 'system_numbers'),
        migrations.AlterField(
            model_name='comparedsystem',
            name='design',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='systems', to='evaluation.ratingdesign'),
        ),
        migrations.AlterField(
            model_name='comparedsystem',
            name='run',
            field=models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='compared_systems', to='generation.run'),
        ),
        migrations.AddConstraint(
            model_name='comparedsystem',
            constraint=models.UniqueConstraint(fields=('design', 'number'), name='one_system_per_number'),
        ),
        migrations.AddConstraint(
            model_name='pagetextof',
            constraint=models.UniqueConstraint(fields=('text', 'system'), name='one_entry_per_system'),
        ),
    ]
