import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    replaces = [('releases', '0001_initial'), ('releases', '0002_append_only')]

    initial = True

    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
        ('projects', '0001_squashed_0024_decisions_that_wait'),
    ]

    operations = [
        migrations.CreateModel(
            name='Release',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('project', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='releases', to='projects.project')),
                ('version', models.CharField(help_text='Semantic version, X.Y.Z.', max_length=40)),
                ('snapshot_hash', models.CharField(max_length=64)),
                ('manifest', models.JSONField()),
                ('folder', models.CharField(max_length=80)),
                ('size', models.PositiveBigIntegerField(help_text='Bytes of all files.')),
                ('created_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
            ],
            options={
                'ordering': ['-id'],
                'constraints': [models.UniqueConstraint(fields=('project', 'version'), name='one_release_per_version')],
            },
        ),
    ]
