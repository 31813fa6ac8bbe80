import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    replaces = [('audit', '0001_initial'), ('audit', '0002_append_only'), ('audit', '0003_witnesses')]

    initial = True

    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='Seal',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('number', models.PositiveBigIntegerField(unique=True)),
                ('previous', models.CharField(help_text='Digest of the previous checkpoint; 64 zeros for the first.', max_length=64)),
                ('root', models.CharField(help_text='Merkle root of the sealed rows, in sealing order.', max_length=64)),
                ('leaves', models.PositiveBigIntegerField(help_text='Number of rows in the checkpoint.')),
                ('digest', models.CharField(max_length=64, unique=True)),
                ('sealed_at', models.DateTimeField()),
            ],
            options={
                'ordering': ['number'],
            },
        ),
        migrations.CreateModel(
            name='Entry',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('digest', models.CharField(editable=False, max_length=64)),
                ('seal', models.ForeignKey(blank=True, editable=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='audit.seal')),
                ('at', models.DateTimeField(db_index=True)),
                ('actor', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('project', models.BigIntegerField(blank=True, null=True)),
                ('verb', models.CharField(max_length=60)),
                ('object_type', models.CharField(max_length=60)),
                ('object_id', models.CharField(max_length=64)),
                ('before', models.JSONField(blank=True, null=True)),
                ('after', models.JSONField(blank=True, null=True)),
                ('reason', models.TextField(blank=True)),
            ],
            options={
                'verbose_name_plural': 'entries',
                'ordering': ['id'],
                'indexes': [models.Index(fields=['project', 'id'], name='audit_entry_project_84e587_idx'), models.Index(fields=['object_type', 'object_id', 'id'], name='audit_entry_object__71978a_idx'), models.Index(condition=models.Q(('seal__isnull', True)), fields=['id'], name='audit_entry_unsealed')],
            },
        ),
        migrations.CreateModel(
            name='Witness',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('digest', models.CharField(editable=False, max_length=64)),
                ('seal', models.ForeignKey(blank=True, editable=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='audit.seal')),
                ('watched', models.CharField(help_text='Label of the tracked model.', max_length=60)),
                ('names', models.JSONField(help_text='Columns and parts that the digests cover.')),
                ('digests', models.JSONField(help_text='SHA-256 of the content, by row id.')),
                ('first', models.BigIntegerField(help_text='Lowest id.')),
                ('last', models.BigIntegerField(help_text='Highest id.')),
                ('count', models.PositiveIntegerField()),
                ('made_at', models.DateTimeField()),
            ],
            options={
                'verbose_name_plural': 'witnesses',
                'ordering': ['id'],
                'indexes': [models.Index(fields=['watched', 'last'], name='audit_witness_last'), models.Index(condition=models.Q(('seal__isnull', True)), fields=['id'], name='audit_witness_unsealed')],
                'constraints': [models.UniqueConstraint(fields=('watched', 'first'), name='one_witness_per_row')],
            },
        ),
    ]
