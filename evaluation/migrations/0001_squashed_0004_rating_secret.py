import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    replaces = [('evaluation', '0001_protocols'), ('evaluation', '0002_rating_pages'), ('evaluation', '0003_rating_figures'), ('evaluation', '0004_rating_secret')]

    initial = True

    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
        ('generation', '0001_squashed_0009_rule_of_probe_figures'),
        ('projects', '0001_squashed_0024_decisions_that_wait'),
    ]

    operations = [
        migrations.CreateModel(
            name='Protocol',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('project', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='protocols', to='projects.project')),
                ('name', models.CharField(max_length=80)),
                ('kind', models.CharField(choices=[('rate', 'Rate'), ('compare', 'Compare')], max_length=7)),
                ('created_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
            ],
            options={
                'ordering': ['id'],
                'constraints': [models.UniqueConstraint(fields=('project', 'name'), name='one_protocol_per_name')],
            },
        ),
        migrations.CreateModel(
            name='ProtocolVersion',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('protocol', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='versions', to='evaluation.protocol')),
                ('number', models.PositiveIntegerField()),
                ('content', models.JSONField()),
                ('digest', models.CharField(help_text="SHA-256 of the content's canonical JSON.", max_length=64)),
                ('note', models.CharField(blank=True, help_text='What changed in this version, or its origin.', max_length=300)),
                ('created_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
            ],
            options={
                'ordering': ['protocol_id', 'number'],
                'constraints': [models.UniqueConstraint(fields=('protocol', 'number'), name='one_protocol_version_per_number')],
            },
        ),
        migrations.CreateModel(
            name='RatingDesign',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('round', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, related_name='rating_design', to='projects.round')),
                ('version', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='designs', to='evaluation.protocolversion')),
                ('plan', models.JSONField(help_text='Compared systems, sources, pages and rules of the design.')),
                ('secret', models.CharField(blank=True, default='', help_text='Random value, hidden until the round is unblinded. Older rounds have none.', max_length=32)),
                ('digest', models.CharField(help_text='SHA-256 of the plan and the name of its rules.', max_length=64)),
            ],
        ),
        migrations.CreateModel(
            name='Unblinding',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('design', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, related_name='unblinding', to='evaluation.ratingdesign')),
                ('by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('at', models.DateTimeField()),
            ],
        ),
        migrations.CreateModel(
            name='Entrant',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('design', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='entrants', to='evaluation.ratingdesign')),
                ('number', models.PositiveSmallIntegerField()),
                ('name', models.CharField(help_text='Name in tables.', max_length=120)),
                ('run', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='entrants', to='generation.run')),
            ],
            options={
                'ordering': ['design_id', 'number'],
                'constraints': [models.UniqueConstraint(fields=('design', 'number'), name='one_entrant_per_number')],
            },
        ),
        migrations.CreateModel(
            name='RatingSource',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('design', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='sources', to='evaluation.ratingdesign')),
                ('unit', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='rating_sources', to='projects.unit')),
                ('target', models.ForeignKey(blank=True, help_text='Unit of the target. If its text is corrected, the ratings need review.', null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='projects.unit')),
                ('number', models.PositiveIntegerField()),
                ('review', models.CharField(blank=True, help_text='Review of the source. Sources of one review form a cluster.', max_length=60)),
                ('shown', models.JSONField(help_text='Query, title and studies.')),
                ('gold', models.JSONField(blank=True, help_text='Text, tuple, polarity and modality of the target.', null=True)),
            ],
            options={
                'ordering': ['design_id', 'number'],
                'constraints': [models.UniqueConstraint(fields=('design', 'number'), name='one_source_per_number')],
            },
        ),
        migrations.CreateModel(
            name='RatingPage',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('unit', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, related_name='rating_page', to='projects.unit')),
                ('source', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='pages', to='evaluation.ratingsource')),
                ('number', models.PositiveIntegerField()),
            ],
            options={
                'ordering': ['id'],
            },
        ),
        migrations.CreateModel(
            name='PageText',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('page', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='texts', to='evaluation.ratingpage')),
                ('code', models.CharField(max_length=8)),
                ('number', models.PositiveSmallIntegerField()),
                ('shown', models.TextField()),
                ('entrants', models.JSONField(default=list, help_text='Numbers of the systems that produced the text.')),
                ('is_check', models.BooleanField(default=False, help_text='Whether the text is on the page of an attention check.')),
                ('made_from', models.CharField(blank=True, help_text='For a check: code of the text that was degraded, or its own code if it was not degraded.', max_length=8)),
            ],
            options={
                'ordering': ['page_id', 'number'],
                'constraints': [models.UniqueConstraint(fields=('page', 'code'), name='one_text_per_code')],
            },
        ),
        migrations.CreateModel(
            name='PageTextOf',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('text', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='entries', to='evaluation.pagetext')),
                ('entrant', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='entries', to='evaluation.entrant')),
                ('summary', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='entries', to='generation.summary')),
                ('exact', models.TextField()),
            ],
            options={
                'ordering': ['id'],
                'constraints': [models.UniqueConstraint(fields=('text', 'entrant'), name='one_entry_per_entrant'), models.CheckConstraint(condition=models.Q(('exact', ''), _negated=True), name='an_entry_has_a_text')],
            },
        ),
        migrations.CreateModel(
            name='RatingFigures',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('design', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, related_name='figures', to='evaluation.ratingdesign')),
                ('rule', models.TextField(help_text='Rule by which the figures were computed. Figures of another rule are outdated.')),
                ('basis', models.JSONField(help_text='Counts of the data behind the figures. The figures are current while they are equal.')),
                ('figures', models.TextField()),
                ('made_at', models.DateTimeField()),
            ],
        ),
        migrations.CreateModel(
            name='Rating',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('answer', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='ratings', to='projects.answer')),
                ('text', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='ratings', to='evaluation.pagetext')),
                ('place', models.PositiveSmallIntegerField()),
                ('number', models.PositiveSmallIntegerField()),
                ('criterion', models.CharField(max_length=30)),
                ('value', models.TextField(blank=True, help_text='A value of the scale. Empty if not applicable.')),
                ('is_na', models.BooleanField(default=False)),
                ('is_prefilled', models.BooleanField(default=False, help_text='Suggested by an earlier answer and not changed.')),
                ('reason', models.TextField(blank=True)),
            ],
            options={
                'ordering': ['id'],
                'constraints': [models.UniqueConstraint(fields=('answer', 'text', 'criterion'), name='one_rating_per_criterion'), models.CheckConstraint(condition=models.Q(('is_na', False), ('value', ''), _connector='OR'), name='not_applicable_has_no_value')],
            },
        ),
        migrations.CreateModel(
            name='RatingSpan',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('rating', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='spans', to='evaluation.rating')),
                ('is_quote', models.BooleanField(help_text='True for evidence of the rating, false for a part of the rated text.')),
                ('within', models.CharField(choices=[('summary', 'Summary'), ('source', 'Source')], max_length=7)),
                ('study', models.PositiveSmallIntegerField(default=0, help_text='Index of the source, from 0.')),
                ('start', models.PositiveIntegerField()),
                ('end', models.PositiveIntegerField()),
                ('quote', models.TextField()),
                ('category', models.CharField(blank=True, max_length=60)),
                ('severity', models.CharField(blank=True, max_length=60)),
                ('reason', models.TextField(blank=True)),
            ],
            options={
                'ordering': ['id'],
                'constraints': [models.CheckConstraint(condition=models.Q(('end__gt', models.F('start'))), name='a_span_has_a_length')],
            },
        ),
        migrations.CreateModel(
            name='Preference',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('answer', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='preferences', to='projects.answer')),
                ('left', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='evaluation.pagetext')),
                ('right', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='evaluation.pagetext')),
                ('number', models.PositiveSmallIntegerField()),
                ('criterion', models.CharField(max_length=30)),
                ('choice', models.CharField(choices=[('left', 'Left'), ('right', 'Right'), ('tie', 'Tie'), ('neither', 'Neither')], max_length=7)),
                ('reason', models.TextField(blank=True)),
            ],
            options={
                'ordering': ['id'],
                'constraints': [models.UniqueConstraint(fields=('answer', 'criterion'), name='one_preference_per_criterion'), models.CheckConstraint(condition=models.Q(('choice__in', ['left', 'right', 'tie', 'neither'])), name='preference_is_known')],
            },
        ),
    ]
