import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    replaces = [('generation', '0001_systems_and_runs'), ('generation', '0002_append_only'), ('generation', '0003_probe_scores'), ('generation', '0004_probe_scores_append_only'), ('generation', '0005_stored_figures'), ('generation', '0006_reckon_probes'), ('generation', '0007_long_runs'), ('generation', '0008_comparisons'), ('generation', '0009_rule_of_probe_figures')]

    initial = True

    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
        ('annotation', '0001_squashed_0027_records_that_cannot_be_taken'),
        ('projects', '0001_squashed_0024_decisions_that_wait'),
    ]

    operations = [
        migrations.CreateModel(
            name='System',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('project', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='systems', to='projects.project')),
                ('name', models.CharField(max_length=80)),
                ('description', models.TextField(blank=True)),
                ('created_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
            ],
            options={
                'ordering': ['id'],
                'constraints': [models.UniqueConstraint(fields=('project', 'name'), name='one_system_per_name')],
            },
        ),
        migrations.CreateModel(
            name='Version',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('system', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='versions', to='generation.system')),
                ('number', models.PositiveIntegerField()),
                ('backend', models.CharField(max_length=30)),
                ('level', models.CharField(choices=[('document', 'Document'), ('sentence', 'Sentence'), ('proposition', 'Proposition')], max_length=12)),
                ('config', models.JSONField()),
                ('facts', models.JSONField()),
                ('hash', models.CharField(help_text='SHA-256 of configuration and facts. It identifies the version.', max_length=64)),
                ('note', models.CharField(blank=True, help_text='Preset of the version, or a remark.', max_length=300)),
                ('created_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
            ],
            options={
                'ordering': ['system_id', 'number'],
                'constraints': [models.UniqueConstraint(fields=('system', 'number'), name='one_version_per_number'), models.UniqueConstraint(fields=('system', 'hash'), name='one_version_per_hash')],
            },
        ),
        migrations.CreateModel(
            name='Run',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('version', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='runs', to='generation.version')),
                ('purpose', models.CharField(choices=[('summaries', 'Summaries'), ('probe', 'Probe')], default='summaries', max_length=10)),
                ('status', models.CharField(choices=[('running', 'Running'), ('stopped', 'Stopped'), ('done', 'Done')], default='running', max_length=8)),
                ('error', models.TextField(blank=True, help_text='Reason for stopping, if no person stopped it.')),
                ('started_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('finished_at', models.DateTimeField(blank=True, null=True)),
                ('lanes', models.PositiveSmallIntegerField(default=2)),
                ('units_count', models.PositiveIntegerField(default=0, help_text='Number of units when the run was started.')),
                ('laid_to', models.JSONField(blank=True, help_text='Position in the corpus up to which units have items. Null if all have.', null=True)),
                ('items_cut', models.PositiveIntegerField(default=0, help_text='Number of items whose input was cut off.')),
                ('tokens_cut', models.PositiveBigIntegerField(blank=True, null=True)),
                ('tokens_out', models.PositiveBigIntegerField(blank=True, null=True)),
            ],
            options={
                'ordering': ['-id'],
                'constraints': [models.UniqueConstraint(condition=models.Q(('status', 'running')), fields=('version', 'purpose'), name='one_running_run_per_version')],
            },
        ),
        migrations.CreateModel(
            name='RunItem',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('run', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='items', to='generation.run')),
                ('unit', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='run_items', to='projects.unit')),
                ('size', models.PositiveIntegerField(help_text='Length of the inputs in characters. Items of similar length make good batches.')),
                ('status', models.CharField(choices=[('waiting', 'Waiting'), ('done', 'Done'), ('failed', 'Failed')], default='waiting', max_length=8)),
                ('job', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='projects.job')),
                ('attempts', models.PositiveSmallIntegerField(default=0)),
                ('error', models.TextField(blank=True)),
                ('finished_at', models.DateTimeField(blank=True, null=True)),
                ('units_up_to', models.BigIntegerField(blank=True, null=True)),
            ],
            options={
                'ordering': ['run_id', 'id'],
                'indexes': [models.Index(condition=models.Q(('status', 'waiting')), fields=['run', 'size', 'id'], name='run_item_waiting'), models.Index(fields=['run', 'status'], name='run_item_status'), models.Index(condition=models.Q(('units_up_to__isnull', False)), fields=['run', 'units_up_to'], name='run_item_read'), models.Index(condition=models.Q(('finished_at__isnull', False)), fields=['run', 'finished_at'], name='run_item_ended')],
                'constraints': [models.UniqueConstraint(fields=('run', 'unit'), name='one_item_per_unit')],
            },
        ),
        migrations.CreateModel(
            name='Summary',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('item', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, related_name='summary', to='generation.runitem')),
                ('text', models.TextField(blank=True)),
                ('finish', models.CharField(help_text='complete, length (cut off at the longest allowed) or unknown.', max_length=10)),
                ('tokens_in', models.PositiveIntegerField(blank=True, null=True)),
                ('tokens_cut', models.PositiveIntegerField(blank=True, help_text='Number of input tokens that were cut off.', null=True)),
                ('tokens_out', models.PositiveIntegerField(blank=True, null=True)),
                ('token_ids', models.JSONField(blank=True, null=True)),
                ('seconds', models.FloatField(default=0.0, help_text='Share of the time of its batch, in seconds.')),
                ('record', models.JSONField(default=dict, help_text='Batch composition, device, and what an endpoint returned.')),
                ('digest', models.CharField(help_text='SHA-256 of the text.', max_length=64)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
            ],
            options={
                'verbose_name_plural': 'summaries',
                'ordering': ['id'],
            },
        ),
        migrations.CreateModel(
            name='Seal',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('run', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='seals', to='generation.run')),
                ('member', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='seals', to='projects.member')),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('lifted_at', models.DateTimeField(blank=True, null=True)),
            ],
            options={
                'ordering': ['id'],
                'constraints': [models.UniqueConstraint(condition=models.Q(('lifted_at', None)), fields=('run', 'member'), name='one_seal_per_person')],
            },
        ),
        migrations.CreateModel(
            name='ProbeScore',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('item', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='probe_scores', to='generation.runitem')),
                ('target', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='probe_scores', to='annotation.proposition')),
                ('counterfactual', models.ForeignKey(blank=True, help_text='Null for the target itself.', null=True, on_delete=django.db.models.deletion.PROTECT, related_name='probe_scores', to='annotation.counterfactual')),
                ('content_sum', models.FloatField()),
                ('content_tokens', models.PositiveIntegerField()),
                ('all_sum', models.FloatField()),
                ('all_tokens', models.PositiveIntegerField()),
                ('changed_sum', models.FloatField(blank=True, null=True)),
                ('changed_tokens', models.PositiveIntegerField(blank=True, null=True)),
                ('replaced_sum', models.FloatField(blank=True, null=True)),
                ('replaced_tokens', models.PositiveIntegerField(blank=True, null=True)),
                ('token_ids', models.JSONField()),
                ('nll', models.JSONField(help_text='Log-likelihood of each token, in nats.')),
            ],
            options={
                'ordering': ['id'],
                'constraints': [models.UniqueConstraint(condition=models.Q(('counterfactual__isnull', False)), fields=('item', 'counterfactual'), name='one_likelihood_per_counterfactual'), models.UniqueConstraint(condition=models.Q(('counterfactual__isnull', True)), fields=('item', 'target'), name='one_likelihood_per_target')],
            },
        ),
        migrations.CreateModel(
            name='ProbeFigures',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('run', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='probe_figures', to='generation.run')),
                ('items', models.PositiveIntegerField()),
                ('rule', models.CharField(blank=True, default='', help_text='Empty for figures of older versions, which did not store it.', max_length=300)),
                ('rows', models.JSONField(help_text='One row per kind and one over all kinds, on each basis (measures.probe).')),
                ('created_at', models.DateTimeField(auto_now_add=True)),
            ],
            options={
                'verbose_name_plural': 'probe figures',
                'ordering': ['run_id', 'items'],
                'constraints': [models.UniqueConstraint(fields=('run', 'items', 'rule'), name='one_reckoning_per_probe_and_items')],
            },
        ),
        migrations.CreateModel(
            name='Scoring',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('run', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='scorings', to='generation.run')),
                ('metric', models.CharField(max_length=30)),
                ('params', models.JSONField(default=dict)),
                ('libraries', models.JSONField(default=dict)),
                ('hash', models.CharField(max_length=64)),
                ('corpus', models.JSONField(default=dict)),
                ('means', models.JSONField(blank=True, null=True)),
                ('job', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='projects.job')),
                ('created_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('finished_at', models.DateTimeField(blank=True, null=True)),
            ],
            options={
                'ordering': ['-id'],
                'constraints': [models.UniqueConstraint(fields=('run', 'hash'), name='one_scoring_per_hash')],
            },
        ),
        migrations.CreateModel(
            name='Score',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('scoring', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='scores', to='generation.scoring')),
                ('summary', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='scores', to='generation.summary')),
                ('reference', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='projects.unit')),
                ('values', models.JSONField()),
                ('undefined', models.JSONField(default=dict)),
            ],
            options={
                'ordering': ['id'],
                'constraints': [models.UniqueConstraint(condition=models.Q(('reference__isnull', False)), fields=('scoring', 'summary', 'reference'), name='one_score_per_reference'), models.UniqueConstraint(condition=models.Q(('reference__isnull', True)), fields=('scoring', 'summary'), name='one_score_without_reference')],
            },
        ),
        migrations.CreateModel(
            name='ScoringComparison',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('first', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='generation.scoring')),
                ('second', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='generation.scoring')),
                ('rule', models.CharField(max_length=300)),
                ('rows', models.JSONField()),
            ],
            options={
                'ordering': ['id'],
                'constraints': [models.UniqueConstraint(fields=('first', 'second'), name='one_comparison_of_two_scorings')],
            },
        ),
        migrations.CreateModel(
            name='ProbeComparison',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('first', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='generation.probefigures')),
                ('second', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='generation.probefigures')),
                ('rule', models.CharField(max_length=300)),
                ('rows', models.JSONField()),
            ],
            options={
                'ordering': ['id'],
                'constraints': [models.UniqueConstraint(fields=('first', 'second'), name='one_comparison_of_two_probes')],
            },
        ),
        migrations.CreateModel(
            name='CommonProbe',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('project', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='projects.project')),
                ('level', models.CharField(choices=[('document', 'Document'), ('sentence', 'Sentence'), ('proposition', 'Proposition')], max_length=20)),
                ('of', models.CharField(max_length=64)),
                ('rule', models.CharField(max_length=300)),
                ('rows', models.JSONField()),
            ],
            options={
                'ordering': ['id'],
                'constraints': [models.UniqueConstraint(fields=('project', 'level', 'of'), name='one_common_table_of_probes')],
            },
        ),
    ]
