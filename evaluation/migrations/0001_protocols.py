import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

from audit.triggers import Guard


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('projects', '0018_adjudication'),
        ('audit', '0002_append_only'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='Protocol',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=80)),
                ('kind', models.CharField(choices=[('rate', 'Rate'), ('compare', 'Compare')], max_length=7)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('created_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('project', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='protocols', to='projects.project')),
            ],
            options={
                'ordering': ['id'],
            },
        ),
        migrations.CreateModel(
            name='ProtocolVersion',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('number', models.PositiveIntegerField()),
                ('content', models.JSONField()),
                ('digest', models.CharField(help_text="SHA-256 of the content's canonical JSON.", max_length=64)),
                ('note', models.CharField(blank=True, help_text='What is new in it, or where it came from.', max_length=300)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('created_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('protocol', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='versions', to='evaluation.protocol')),
            ],
            options={
                'ordering': ['protocol_id', 'number'],
            },
        ),
        migrations.AddConstraint(
            model_name='protocol',
            constraint=models.UniqueConstraint(fields=('project', 'name'), name='one_protocol_per_name'),
        ),
        migrations.AddConstraint(
            model_name='protocolversion',
            constraint=models.UniqueConstraint(fields=('protocol', 'number'), name='one_protocol_version_per_number'),
        ),
        Guard('evaluation_protocolversion'),
    ]
