import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    replaces = [('annotation', '0001_initial'), ('annotation', '0002_label_suggestions'), ('annotation', '0003_cluster_search'), ('annotation', '0004_append_only'), ('annotation', '0005_proposition_versions'), ('annotation', '0006_tuples'), ('annotation', '0007_tuples_append_only'), ('annotation', '0008_counterfactuals'), ('annotation', '0009_counterfactuals_append_only'), ('annotation', '0010_findings'), ('annotation', '0011_records_of_pubmed'), ('annotation', '0012_searches_of_pubmed'), ('annotation', '0013_screening'), ('annotation', '0014_sentences'), ('annotation', '0015_counterfactual_rewritings'), ('annotation', '0016_target_versions'), ('annotation', '0017_rankings'), ('annotation', '0018_blind_checks'), ('annotation', '0019_pico_splits'), ('annotation', '0020_matches'), ('annotation', '0021_study_lists'), ('annotation', '0022_evidence'), ('annotation', '0023_reliability_studies'), ('annotation', '0024_full_texts'), ('annotation', '0025_assigned_evidence'), ('annotation', '0026_candidates_by_number'), ('annotation', '0027_records_that_cannot_be_taken')]

    initial = True

    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
        ('projects', '0001_squashed_0024_decisions_that_wait'),
    ]

    operations = [
        migrations.CreateModel(
            name='Review',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('title', models.TextField(blank=True)),
                ('abstract', models.TextField(blank=True)),
                ('year', models.PositiveSmallIntegerField(blank=True, help_text='Year of publication.', null=True)),
                ('publication_types', models.JSONField(blank=True, default=list)),
                ('sections', models.JSONField(blank=True, default=list, help_text='Sections of a structured abstract: label, category, and start and end in code points.')),
                ('is_retracted', models.BooleanField(default=False)),
                ('retraction_notice', models.CharField(blank=True, help_text='Retraction, partial retraction or expression of concern.', max_length=300)),
                ('record', models.CharField(choices=[('not read', 'Not Read'), ('read', 'Read'), ('no abstract', 'No Abstract'), ('not found', 'Not Found')], default='not read', max_length=11)),
                ('project', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='reviews', to='projects.project')),
                ('pmid', models.CharField(help_text='PubMed id, or the id in the source file.', max_length=40)),
                ('topic', models.CharField(blank=True, help_text='Topic of the review, named by the lead.', max_length=120)),
                ('references', models.JSONField(blank=True, default=list, help_text='PubMed ids of the references.')),
                ('unit', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, related_name='review', to='projects.unit')),
            ],
            options={
                'ordering': ['id'],
                'constraints': [models.UniqueConstraint(fields=('project', 'pmid'), name='one_review_per_pmid')],
            },
        ),
        migrations.CreateModel(
            name='Study',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('title', models.TextField(blank=True)),
                ('abstract', models.TextField(blank=True)),
                ('year', models.PositiveSmallIntegerField(blank=True, help_text='Year of publication.', null=True)),
                ('publication_types', models.JSONField(blank=True, default=list)),
                ('sections', models.JSONField(blank=True, default=list, help_text='Sections of a structured abstract: label, category, and start and end in code points.')),
                ('is_retracted', models.BooleanField(default=False)),
                ('retraction_notice', models.CharField(blank=True, help_text='Retraction, partial retraction or expression of concern.', max_length=300)),
                ('record', models.CharField(choices=[('not read', 'Not Read'), ('read', 'Read'), ('no abstract', 'No Abstract'), ('not found', 'Not Found')], default='not read', max_length=11)),
                ('project', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='studies', to='projects.project')),
                ('pmid', models.CharField(max_length=40)),
                ('reviews', models.ManyToManyField(related_name='studies', to='annotation.review')),
            ],
            options={
                'verbose_name_plural': 'studies',
                'ordering': ['id'],
                'constraints': [models.UniqueConstraint(fields=('project', 'pmid'), name='one_study_per_pmid')],
            },
        ),
        migrations.CreateModel(
            name='FullText',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('review', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, related_name='full_text', to='annotation.review')),
                ('imported', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='full_texts', to='projects.import')),
                ('pmcid', models.CharField(blank=True, help_text='PubMed Central id.', max_length=20)),
                ('doi', models.CharField(blank=True, max_length=200)),
                ('licence', models.TextField(blank=True, help_text='Licence text of the file.')),
                ('licence_url', models.CharField(blank=True, max_length=300)),
                ('copyright', models.TextField(blank=True)),
                ('sections', models.JSONField(help_text='Sections in order: title, text, and whether the title is about the included studies.')),
                ('references', models.JSONField(help_text='References in order: text, PMID and DOI if given, and whether marked as an included study.')),
            ],
            options={
                'ordering': ['review_id'],
            },
        ),
        migrations.CreateModel(
            name='Label',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('unit', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='labels', to='projects.unit')),
                ('answer', models.OneToOneField(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='label', to='projects.answer')),
                ('imported', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='labels', to='projects.import')),
                ('polarity', models.CharField(choices=[('positive', 'Positive'), ('no effect', 'No Effect'), ('negative', 'Negative'), ('n/a', 'Not Applicable')], max_length=12)),
                ('modality', models.CharField(choices=[('strong', 'Strong'), ('moderate', 'Moderate'), ('weak', 'Weak'), ('no evidence', 'No Evidence')], max_length=12)),
                ('suggestions_accepted', models.PositiveSmallIntegerField(blank=True, null=True)),
                ('suggestions_edited', models.PositiveSmallIntegerField(blank=True, null=True)),
                ('suggestions_rejected', models.PositiveSmallIntegerField(blank=True, null=True)),
            ],
            options={
                'ordering': ['id'],
                'constraints': [models.CheckConstraint(condition=models.Q(models.Q(('answer__isnull', False), ('imported__isnull', True)), models.Q(('answer__isnull', True), ('imported__isnull', False)), _connector='OR'), name='label_has_one_source'), models.UniqueConstraint(fields=('unit', 'imported'), name='one_label_per_import'), models.CheckConstraint(condition=models.Q(models.Q(('modality', 'no evidence'), ('polarity', 'n/a')), models.Q(models.Q(('polarity', 'n/a'), _negated=True), models.Q(('modality', 'no evidence'), _negated=True)), _connector='OR'), name='not_applicable_exactly_without_evidence')],
            },
        ),
        migrations.CreateModel(
            name='Cue',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('label', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='cues', to='annotation.label')),
                ('aspect', models.CharField(choices=[('polarity', 'Polarity'), ('modality', 'Modality')], max_length=8)),
                ('text', models.TextField(help_text="Text as published, or the marked parts joined by ' ... '.")),
                ('found', models.CharField(choices=[('selected', 'marked by a person'), ('exact', 'Exact'), ('case', 'but for case'), ('absent', 'Absent')], max_length=8)),
                ('occurrences', models.PositiveSmallIntegerField(default=1)),
            ],
            options={
                'ordering': ['label_id', 'aspect'],
                'constraints': [models.UniqueConstraint(fields=('label', 'aspect'), name='one_cue_per_aspect'), models.CheckConstraint(condition=models.Q(('text', ''), _negated=True), name='a_cue_is_not_empty')],
            },
        ),
        migrations.CreateModel(
            name='CueFragment',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('cue', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='fragments', to='annotation.cue')),
                ('position', models.PositiveSmallIntegerField()),
                ('start', models.PositiveIntegerField()),
                ('end', models.PositiveIntegerField()),
                ('quote', models.TextField()),
            ],
            options={
                'ordering': ['cue_id', 'position'],
                'constraints': [models.UniqueConstraint(fields=('cue', 'position'), name='one_cue_fragment_per_position'), models.CheckConstraint(condition=models.Q(('start__lt', models.F('end'))), name='a_cue_fragment_is_not_empty')],
            },
        ),
        migrations.CreateModel(
            name='DiscourseLabel',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('unit', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='discourse_labels', to='projects.unit')),
                ('answer', models.OneToOneField(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='discourse', to='projects.answer')),
                ('imported', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='projects.import')),
                ('relation', models.CharField(choices=[('agreement', 'Agreement'), ('contradiction', 'Contradiction')], max_length=13)),
                ('suggestion', models.CharField(blank=True, choices=[('accepted', 'Accepted'), ('edited', 'another value was given')], help_text='What the person did with the suggestion. Empty if none was shown.', max_length=8)),
            ],
            options={
                'ordering': ['id'],
                'constraints': [models.CheckConstraint(condition=models.Q(models.Q(('answer__isnull', False), ('imported__isnull', True)), models.Q(('answer__isnull', True), ('imported__isnull', False)), _connector='OR'), name='discourse_label_has_one_source'), models.UniqueConstraint(fields=('unit', 'imported'), name='one_discourse_label_per_import')],
            },
        ),
        migrations.CreateModel(
            name='PicoTuple',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('unit', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='pico_tuples', to='projects.unit')),
                ('answer', models.OneToOneField(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='pico_tuple', to='projects.answer')),
                ('imported', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='projects.import')),
            ],
            options={
                'ordering': ['id'],
                'constraints': [models.CheckConstraint(condition=models.Q(models.Q(('answer__isnull', False), ('imported__isnull', True)), models.Q(('answer__isnull', True), ('imported__isnull', False)), _connector='OR'), name='pico_tuple_has_one_source'), models.UniqueConstraint(fields=('unit', 'imported'), name='one_pico_tuple_per_import')],
            },
        ),
        migrations.CreateModel(
            name='TupleSlot',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('slot', models.CharField(choices=[('p', 'Population'), ('i', 'Intervention'), ('c', 'Comparator'), ('o', 'Outcome')], max_length=1)),
                ('text', models.TextField(blank=True)),
                ('stands_for', models.CharField(blank=True, choices=[('placebo', 'Placebo'), ('none', 'None'), ('not stated', 'Not Stated')], max_length=10)),
                ('pico_tuple', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='slots', to='annotation.picotuple')),
            ],
            options={
                'ordering': ['pico_tuple_id', 'id'],
                'constraints': [models.UniqueConstraint(fields=('pico_tuple', 'slot'), name='one_tuple_slot_each'), models.CheckConstraint(condition=models.Q(('stands_for', ''), models.Q(('slot', 'c'), ('text', '')), _connector='OR'), name='only_a_blank_comparator_stands_for')],
            },
        ),
        migrations.CreateModel(
            name='TupleFragment',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('position', models.PositiveSmallIntegerField()),
                ('start', models.PositiveIntegerField()),
                ('end', models.PositiveIntegerField()),
                ('quote', models.TextField()),
                ('slot', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='fragments', to='annotation.tupleslot')),
            ],
            options={
                'ordering': ['slot_id', 'position'],
                'constraints': [models.UniqueConstraint(fields=('slot', 'position'), name='one_tuple_fragment_per_position'), models.CheckConstraint(condition=models.Q(('start__lt', models.F('end'))), name='a_tuple_fragment_is_not_empty')],
            },
        ),
        migrations.CreateModel(
            name='Rewriting',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('unit', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='rewritings', to='projects.unit')),
                ('answer', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='rewritings', to='projects.answer')),
                ('kind', models.CharField(choices=[('negation', 'Negation'), ('antonym', 'Antonym'), ('no effect', 'No effect'), ('no evidence', 'No evidence'), ('modality', 'Modality')], max_length=11)),
                ('text', models.TextField(blank=True)),
                ('origin', models.CharField(blank=True, choices=[('drafted', 'Drafted'), ('edited', 'edited from a draft'), ('written', 'Written')], max_length=7)),
                ('rule', models.CharField(blank=True, choices=[('not added', 'not added'), ('not removed', 'not removed'), ('no added', 'no added'), ('no removed', 'no removed'), ('neither to both', 'neither to both'), ('and to but not', 'and to but not'), ('without to with', 'without to with'), ('antonym', 'antonym'), ('effect to no effect', 'effect to no effect'), ('no effect to effect', 'no effect to effect'), ('there is no evidence', 'there is no evidence'), ('evidence stated', 'evidence stated'), ('hedge added', 'hedge added'), ('hedge removed', 'hedge removed'), ('booster removed', 'booster removed')], max_length=20)),
                ('reason', models.CharField(blank=True, choices=[('no claim', 'The target already is no evidence'), ('no opposite', 'No word with an opposite'), ('touches pico', 'It would change the PICO'), ('too many words', 'Not in five words'), ('other', 'Another reason (say it in a comment)')], max_length=14)),
            ],
            options={
                'ordering': ['id'],
                'constraints': [models.CheckConstraint(condition=models.Q(models.Q(models.Q(('text', ''), _negated=True), models.Q(('origin', ''), _negated=True), ('reason', '')), models.Q(('origin', ''), ('rule', ''), ('text', ''), models.Q(('reason', ''), _negated=True)), _connector='OR'), name='a_rewriting_has_a_text_or_a_reason'), models.CheckConstraint(condition=models.Q(('origin', ''), models.Q(('origin', 'written'), ('rule', '')), models.Q(models.Q(('origin', 'written'), _negated=True), models.Q(('rule', ''), _negated=True)), _connector='OR'), name='a_rewriting_has_a_rule_where_it_was_drafted'), models.CheckConstraint(condition=models.Q(('kind__in', ['negation', 'antonym', 'no effect', 'no evidence', 'modality'])), name='rewriting_kind_is_known'), models.UniqueConstraint(fields=('answer', 'kind'), name='one_rewriting_per_kind')],
            },
        ),
        migrations.CreateModel(
            name='Sentence',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('review', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='sentences', to='annotation.review')),
                ('study', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='sentences', to='annotation.study')),
                ('number', models.PositiveSmallIntegerField(help_text='Position in the abstract, from 1.')),
                ('start', models.PositiveIntegerField()),
                ('end', models.PositiveIntegerField()),
                ('text', models.TextField()),
                ('section', models.TextField(blank=True, help_text='Heading of the section. Empty if there is none.')),
                ('category', models.CharField(blank=True, help_text="NLM's category of the section.", max_length=20)),
                ('splitter', models.CharField(help_text='Rules by which the abstract was split (measures.sentences).', max_length=40)),
            ],
            options={
                'ordering': ['review_id', 'study_id', 'number'],
                'constraints': [models.CheckConstraint(condition=models.Q(models.Q(('review__isnull', False), ('study__isnull', True)), models.Q(('review__isnull', True), ('study__isnull', False)), _connector='OR'), name='a_sentence_is_of_one_article'), models.CheckConstraint(condition=models.Q(('start__lt', models.F('end'))), name='a_sentence_is_not_empty'), models.UniqueConstraint(fields=('review', 'number'), name='one_review_sentence_per_number'), models.UniqueConstraint(fields=('study', 'number'), name='one_study_sentence_per_number')],
            },
        ),
        migrations.CreateModel(
            name='Target',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('project', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='targets', to='projects.project')),
                ('review', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='targets', to='annotation.review')),
                ('level', models.CharField(choices=[('document', 'Document'), ('sentence', 'Sentence')], max_length=10)),
                ('key', models.CharField(help_text="M3's docid. It does not join levels.", max_length=60)),
                ('position', models.PositiveIntegerField(help_text='Order in the published file.')),
                ('version', models.PositiveSmallIntegerField(default=1)),
                ('text', models.TextField()),
                ('imported', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='targets', to='projects.import')),
                ('unit', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, related_name='target', to='projects.unit')),
                ('sentence', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='targets', to='annotation.sentence')),
            ],
            options={
                'ordering': ['position', 'id'],
                'constraints': [models.UniqueConstraint(fields=('project', 'level', 'key', 'version'), name='one_target_per_version')],
            },
        ),
        migrations.CreateModel(
            name='Input',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('target', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='inputs', to='annotation.target')),
                ('study', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='inputs', to='annotation.study')),
                ('position', models.PositiveIntegerField()),
                ('text', models.TextField()),
                ('numbers', models.JSONField(blank=True, default=list, help_text="Positions of the study's sentences that it was made from. Empty if unknown.")),
                ('is_current', models.BooleanField(default=True)),
            ],
            options={
                'ordering': ['target_id', 'position'],
                'constraints': [models.UniqueConstraint(fields=('target', 'position'), name='one_input_per_position')],
            },
        ),
        migrations.CreateModel(
            name='Cluster',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('project', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='clusters', to='projects.project')),
                ('review', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='clusters', to='annotation.review')),
                ('key', models.CharField(help_text="M3's docid, PMID_n.", max_length=60)),
                ('position', models.PositiveIntegerField(help_text='Order in the published file and in a release.')),
                ('imported', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='clusters', to='projects.import')),
                ('unit', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, related_name='cluster', to='projects.unit')),
                ('sentence', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='clusters', to='annotation.target')),
                ('search', models.TextField(blank=True, editable=False, help_text='Text that the search uses, folded.')),
            ],
            options={
                'ordering': ['position', 'id'],
                'indexes': [models.Index(fields=['project', 'position'], name='annotation__project_b59228_idx')],
                'constraints': [models.UniqueConstraint(fields=('project', 'key'), name='one_cluster_per_key')],
            },
        ),
        migrations.CreateModel(
            name='PicoSlot',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('cluster', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='pico', to='annotation.cluster')),
                ('slot', models.CharField(choices=[('p', 'Population'), ('i', 'Intervention'), ('c', 'Comparator'), ('o', 'Outcome')], max_length=1)),
                ('form', models.CharField(choices=[('explicit', 'Explicit'), ('reworded', 'Reworded'), ('implied', 'Implied'), ('partly implied', 'Partly Implied'), ('blank', 'Blank')], max_length=14)),
                ('text', models.TextField(blank=True)),
                ('stands_for', models.CharField(blank=True, choices=[('placebo', 'Placebo'), ('none', 'None'), ('not stated', 'Not Stated')], max_length=10)),
            ],
            options={
                'ordering': ['cluster_id', 'id'],
                'constraints': [models.UniqueConstraint(fields=('cluster', 'slot'), name='one_pico_slot_each'), models.CheckConstraint(condition=models.Q(models.Q(('form', 'blank'), ('text', '')), models.Q(models.Q(('form', 'blank'), _negated=True), models.Q(('text', ''), _negated=True)), _connector='OR'), name='a_blank_slot_has_no_text')],
            },
        ),
        migrations.CreateModel(
            name='PicoFragment',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('slot', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='fragments', to='annotation.picoslot')),
                ('position', models.PositiveSmallIntegerField()),
                ('start', models.PositiveIntegerField()),
                ('end', models.PositiveIntegerField()),
            ],
            options={
                'ordering': ['slot_id', 'position'],
                'constraints': [models.UniqueConstraint(fields=('slot', 'position'), name='one_pico_fragment_per_position'), models.CheckConstraint(condition=models.Q(('start__lt', models.F('end'))), name='a_pico_fragment_is_not_empty')],
            },
        ),
        migrations.CreateModel(
            name='Proposition',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('cluster', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='propositions', to='annotation.cluster')),
                ('position', models.PositiveIntegerField()),
                ('version', models.PositiveSmallIntegerField(default=1)),
                ('study', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='propositions', to='annotation.study')),
                ('text', models.TextField()),
                ('unit', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, related_name='proposition', to='projects.unit')),
            ],
            options={
                'ordering': ['cluster_id', 'position', 'version'],
                'constraints': [models.UniqueConstraint(fields=('cluster', 'position', 'version'), name='one_proposition_per_position_and_version'), models.CheckConstraint(condition=models.Q(models.Q(('position', 0), ('study__isnull', True)), models.Q(('position__gte', 1), ('study__isnull', False)), _connector='OR'), name='inputs_have_a_study_and_targets_none')],
            },
        ),
        migrations.CreateModel(
            name='Counterfactual',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('target', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='counterfactuals', to='annotation.proposition')),
                ('kind', models.CharField(choices=[('negation', 'Negation'), ('antonym', 'Antonym'), ('no effect', 'No effect'), ('no evidence', 'No evidence'), ('modality', 'Modality')], max_length=11)),
                ('version', models.PositiveSmallIntegerField(default=1)),
                ('text', models.TextField(blank=True)),
                ('withdrawn', models.BooleanField(default=False, help_text='The unit has no counterfactual of this kind from this version on.')),
                ('answer', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='counterfactuals', to='projects.answer')),
                ('imported', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='counterfactuals', to='projects.import')),
            ],
            options={
                'ordering': ['target_id', 'kind', 'version'],
                'constraints': [models.CheckConstraint(condition=models.Q(models.Q(('answer__isnull', False), ('imported__isnull', True)), models.Q(('answer__isnull', True), ('imported__isnull', False)), _connector='OR'), name='counterfactual_has_one_source'), models.CheckConstraint(condition=models.Q(('kind__in', ['negation', 'antonym', 'no effect', 'no evidence', 'modality'])), name='counterfactual_kind_is_known'), models.CheckConstraint(condition=models.Q(models.Q(models.Q(('text', ''), _negated=True), ('withdrawn', False)), models.Q(('text', ''), ('withdrawn', True)), _connector='OR'), name='a_counterfactual_has_a_text_or_is_withdrawn'), models.UniqueConstraint(fields=('target', 'kind', 'version'), name='one_counterfactual_per_version'), models.UniqueConstraint(fields=('target', 'kind', 'imported'), name='one_counterfactual_per_import')],
            },
        ),
        migrations.CreateModel(
            name='RewrittenText',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('unit', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, related_name='rewritten_text', to='projects.unit')),
                ('counterfactual', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, related_name='rewritten_text', to='annotation.counterfactual')),
            ],
            options={
                'ordering': ['id'],
            },
        ),
        migrations.CreateModel(
            name='AbstractReading',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('unit', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='abstract_readings', to='projects.unit')),
                ('answer', models.OneToOneField(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='projects.answer')),
                ('imported', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='projects.import')),
                ('task', models.CharField(choices=[('sentence_classes', 'a class for each sentence'), ('evidence_sentences', 'which sentences bear evidence')], max_length=20)),
                ('dropped', models.CharField(blank=True, choices=[('too many studies', 'Too many studies')], max_length=16)),
            ],
            options={
                'ordering': ['id'],
                'constraints': [models.CheckConstraint(condition=models.Q(models.Q(('answer__isnull', False), ('imported__isnull', True)), models.Q(('answer__isnull', True), ('imported__isnull', False)), _connector='OR'), name='abstract_reading_has_one_source'), models.UniqueConstraint(fields=('unit', 'imported'), name='one_abstract_reading_per_import'), models.CheckConstraint(condition=models.Q(('dropped', ''), ('task', 'evidence_sentences'), _connector='OR'), name='only_evidence_drops_a_review')],
            },
        ),
        migrations.CreateModel(
            name='SentenceMark',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('reading', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='marks', to='annotation.abstractreading')),
                ('sentence', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='marks', to='annotation.sentence')),
                ('said', models.CharField(choices=[('BACKGROUND', 'Background'), ('GOAL', 'Goal'), ('METHODS', 'Methods'), ('DETAILED_FINDINGS', 'Detailed findings'), ('EVIDENCE_QUALITY', 'Evidence quality'), ('EFFECT', 'Effect'), ('RECOMMENDATION', 'Recommendation'), ('FURTHER_STUDY', 'Further study'), ('ETC', 'Anything else'), ('picked', 'Bears evidence'), ('other comparator', 'Another comparator than the reviews are about'), ('table data', 'Says what belongs in a table'), ('statistic', 'Calculates a correlation or another statistic'), ('needs aggregation', 'True only of several studies counted together'), ('no support', 'No support in the abstracts of the studies'), ('neither', 'Bears no evidence')], max_length=20)),
            ],
            options={
                'ordering': ['reading_id', 'id'],
                'constraints': [models.UniqueConstraint(fields=('reading', 'sentence'), name='one_mark_per_sentence')],
            },
        ),
        migrations.CreateModel(
            name='EvidencePair',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('unit', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, related_name='evidence_pair', to='projects.unit')),
                ('target', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='evidence_pairs', to='annotation.target')),
                ('study', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='evidence_pairs', to='annotation.study')),
            ],
            options={
                'ordering': ['id'],
                'constraints': [models.UniqueConstraint(fields=('target', 'study'), name='one_evidence_pair_per_study')],
            },
        ),
        migrations.CreateModel(
            name='Support',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('unit', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='supports', to='projects.unit')),
                ('answer', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, related_name='support', to='projects.answer')),
                ('ranked', models.JSONField(default=list, help_text='Numbers of the sentences shown as ranks 1, 2 and 3. Empty if none were shown.')),
            ],
            options={
                'ordering': ['id'],
            },
        ),
        migrations.CreateModel(
            name='SupportSentence',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('support', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='sentences', to='annotation.support')),
                ('sentence', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='supports', to='annotation.sentence')),
            ],
            options={
                'ordering': ['support_id', 'id'],
                'constraints': [models.UniqueConstraint(fields=('support', 'sentence'), name='one_mark_per_supporting_sentence')],
            },
        ),
        migrations.CreateModel(
            name='AssignedEvidence',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('unit', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='assigned_evidence', to='projects.unit')),
                ('answer', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, related_name='assigned_evidence', to='projects.answer')),
            ],
            options={
                'ordering': ['id'],
            },
        ),
        migrations.CreateModel(
            name='AssignedInput',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('of', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='inputs', to='annotation.assignedevidence')),
                ('input', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='annotation.input')),
                ('said', models.CharField(choices=[('supports', 'Supports this proposition'), ('does not', 'Does not support it')], max_length=8)),
            ],
            options={
                'ordering': ['of_id', 'id'],
                'constraints': [models.UniqueConstraint(fields=('of', 'input'), name='one_assignment_per_input')],
            },
        ),
        migrations.CreateModel(
            name='AssignedProposition',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('proposition', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, related_name='assigned', to='annotation.proposition')),
                ('input', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='annotation.input')),
            ],
            options={
                'ordering': ['id'],
            },
        ),
        migrations.CreateModel(
            name='Ranking',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('target', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='rankings', to='annotation.target')),
                ('study', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='rankings', to='annotation.study')),
                ('ranker', models.CharField(help_text='Name of the ranker, with its settings.', max_length=200)),
                ('texts', models.CharField(help_text='SHA-256 of the target and the compared sentences.', max_length=64)),
                ('order', models.JSONField(help_text='Numbers of the sentences, most similar first.')),
                ('similarities', models.JSONField(help_text='Similarities of the sentences, in the order of the abstract.')),
                ('made_at', models.DateTimeField(auto_now=True)),
            ],
            options={
                'ordering': ['target_id', 'study_id', 'ranker'],
                'constraints': [models.UniqueConstraint(fields=('target', 'study', 'ranker'), name='one_ranking_per_ranker')],
            },
        ),
        migrations.CreateModel(
            name='PicoSplit',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('unit', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='pico_splits', to='projects.unit')),
                ('answer', models.OneToOneField(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='pico_split', to='projects.answer')),
                ('imported', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='projects.import')),
            ],
            options={
                'ordering': ['id'],
                'constraints': [models.CheckConstraint(condition=models.Q(models.Q(('answer__isnull', False), ('imported__isnull', True)), models.Q(('answer__isnull', True), ('imported__isnull', False)), _connector='OR'), name='pico_split_has_one_source'), models.UniqueConstraint(fields=('unit', 'imported'), name='one_pico_split_per_import')],
            },
        ),
        migrations.CreateModel(
            name='SplitTuple',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('split', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='tuples', to='annotation.picosplit')),
                ('position', models.PositiveSmallIntegerField()),
            ],
            options={
                'ordering': ['split_id', 'position'],
                'constraints': [models.UniqueConstraint(fields=('split', 'position'), name='one_split_tuple_per_position')],
            },
        ),
        migrations.CreateModel(
            name='SplitSlot',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('slot', models.CharField(choices=[('p', 'Population'), ('i', 'Intervention'), ('c', 'Comparator'), ('o', 'Outcome')], max_length=1)),
                ('text', models.TextField(blank=True)),
                ('stands_for', models.CharField(blank=True, choices=[('placebo', 'Placebo'), ('none', 'None'), ('not stated', 'Not Stated')], max_length=10)),
                ('of', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='slots', to='annotation.splittuple')),
            ],
            options={
                'ordering': ['of_id', 'id'],
                'constraints': [models.UniqueConstraint(fields=('of', 'slot'), name='one_split_slot_each'), models.CheckConstraint(condition=models.Q(('stands_for', ''), models.Q(('slot', 'c'), ('text', '')), _connector='OR'), name='only_a_blank_split_comparator_stands_for')],
            },
        ),
        migrations.CreateModel(
            name='SplitFragment',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('position', models.PositiveSmallIntegerField()),
                ('start', models.PositiveIntegerField()),
                ('end', models.PositiveIntegerField()),
                ('quote', models.TextField()),
                ('slot', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='fragments', to='annotation.splitslot')),
            ],
            options={
                'ordering': ['slot_id', 'position'],
                'constraints': [models.UniqueConstraint(fields=('slot', 'position'), name='one_split_fragment_per_position'), models.CheckConstraint(condition=models.Q(('start__lt', models.F('end'))), name='a_split_fragment_is_not_empty')],
            },
        ),
        migrations.CreateModel(
            name='SplitCluster',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('cluster', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, related_name='made_of', to='annotation.cluster')),
                ('tuple', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='clusters', to='annotation.splittuple')),
            ],
            options={
                'ordering': ['id'],
            },
        ),
        migrations.CreateModel(
            name='ConsistencyCheck',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('project', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, related_name='consistency_check', to='projects.project')),
                ('at', models.DateTimeField()),
            ],
        ),
        migrations.CreateModel(
            name='Finding',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('project', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='findings', to='projects.project')),
                ('rule', models.CharField(max_length=40)),
                ('identity', models.CharField(help_text='SHA-256 of the rule, the units and the values of the finding.', max_length=64)),
                ('reason', models.TextField(help_text='Written description.')),
                ('weight', models.FloatField(default=0.0)),
                ('is_information', models.BooleanField(default=False, help_text='The finding may be intended.')),
                ('position', models.PositiveIntegerField(help_text='Position in the newest check that reported it.')),
                ('is_current', models.BooleanField(default=True)),
                ('found_at', models.DateTimeField()),
                ('said', models.CharField(blank=True, choices=[('dismissed', 'Dismissed'), ('sent', 'sent to review')], max_length=9)),
                ('because', models.TextField(blank=True)),
                ('said_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('said_at', models.DateTimeField(blank=True, null=True)),
            ],
            options={
                'ordering': ['position', 'id'],
                'indexes': [models.Index(fields=['project', 'is_current', 'position'], name='findings_in_order')],
                'constraints': [models.UniqueConstraint(fields=('project', 'identity'), name='one_finding_of_the_same'), models.CheckConstraint(condition=models.Q(models.Q(('because', ''), ('said', ''), ('said_at', None)), models.Q(models.Q(('said', ''), _negated=True), models.Q(('because', ''), _negated=True), ('said_at__isnull', False)), _connector='OR'), name='what_was_said_of_a_finding_has_a_reason')],
            },
        ),
        migrations.CreateModel(
            name='FindingUnit',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('finding', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='named', to='annotation.finding')),
                ('unit', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='findings', to='projects.unit')),
                ('position', models.PositiveIntegerField(help_text='Position in the finding.')),
            ],
            options={
                'ordering': ['finding_id', 'position'],
                'constraints': [models.UniqueConstraint(fields=('finding', 'position'), name='one_unit_per_place_in_a_finding'), models.UniqueConstraint(fields=('finding', 'unit'), name='a_finding_names_a_unit_once')],
            },
        ),
        migrations.CreateModel(
            name='ReliabilityStudy',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('project', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='reliability_studies', to='projects.project')),
                ('name', models.CharField(max_length=100)),
                ('seed', models.PositiveBigIntegerField(help_text='Seed of both samples, the order and the candidates.')),
                ('overlap', models.PositiveSmallIntegerField(help_text='Number of people who answer each target.')),
                ('labels', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='projects.round')),
                ('matches', models.OneToOneField(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='projects.round')),
                ('no_matches', models.TextField(blank=True, help_text='Reason why the study has no match round.')),
                ('created_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
            ],
            options={
                'verbose_name_plural': 'reliability studies',
                'ordering': ['-id'],
                'constraints': [models.UniqueConstraint(fields=('project', 'name'), name='one_reliability_study_per_name'), models.CheckConstraint(condition=models.Q(('matches__isnull', True), ('no_matches', ''), _connector='XOR'), name='without_matches_for_a_reason')],
            },
        ),
        migrations.CreateModel(
            name='MatchItem',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('unit', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, related_name='match_item', to='projects.unit')),
                ('round', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='match_items', to='projects.round')),
                ('number', models.PositiveIntegerField(help_text='Number from 1, in the order of the questions.')),
                ('target', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='match_items', to='annotation.target')),
                ('study', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='match_items', to='annotation.study')),
                ('nearest_by', models.CharField(help_text='Ranker that orders the sentences by similarity.', max_length=200)),
            ],
            options={
                'ordering': ['round_id', 'number'],
                'constraints': [models.UniqueConstraint(fields=('round', 'number'), name='one_match_item_per_number')],
            },
        ),
        migrations.CreateModel(
            name='MatchCandidate',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('item', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='candidates', to='annotation.matchitem')),
                ('position', models.PositiveSmallIntegerField(help_text='Number in the item, from 1. Answers use it.')),
                ('sentence', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='match_candidates', to='annotation.sentence')),
                ('is_gold', models.BooleanField()),
                ('rank', models.PositiveSmallIntegerField()),
            ],
            options={
                'ordering': ['item_id', 'position'],
                'constraints': [models.UniqueConstraint(fields=('item', 'position'), name='one_match_candidate_per_position'), models.UniqueConstraint(fields=('item', 'sentence'), name='a_sentence_is_a_candidate_once'), models.UniqueConstraint(fields=('item', 'rank'), name='one_match_candidate_per_rank'), models.UniqueConstraint(condition=models.Q(('is_gold', True)), fields=('item',), name='one_gold_candidate'), models.CheckConstraint(condition=models.Q(('position__range', (1, 4)), ('rank__range', (1, 4))), name='four_match_candidates')],
            },
        ),
        migrations.CreateModel(
            name='Match',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('unit', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='matches', to='projects.unit')),
                ('answer', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, related_name='match', to='projects.answer')),
                ('most_relevant', models.PositiveSmallIntegerField()),
            ],
            options={
                'ordering': ['id'],
                'constraints': [models.CheckConstraint(condition=models.Q(('most_relevant__range', (1, 4))), name='a_match_is_one_of_four')],
            },
        ),
        migrations.CreateModel(
            name='Search',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('project', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='searches', to='projects.project')),
                ('review', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='searches', to='annotation.review')),
                ('topic', models.CharField(blank=True, max_length=120)),
                ('query', models.TextField(blank=True)),
                ('date_from', models.DateField(blank=True, help_text='Year of publication.', null=True)),
                ('date_to', models.DateField(blank=True, null=True)),
                ('translation', models.TextField(blank=True, help_text='Query as interpreted by PubMed.')),
                ('found', models.PositiveIntegerField(blank=True, help_text='Null until PubMed has answered.', null=True)),
                ('state', models.CharField(choices=[('waiting', 'Waiting'), ('running', 'Running'), ('stopped', 'Stopped'), ('failed', 'Failed'), ('done', 'Done')], default='waiting', max_length=7)),
                ('error', models.TextField(blank=True, help_text='Reason for stopping, shown to the person who started it.')),
                ('job', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='projects.job')),
                ('created_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('finished_at', models.DateTimeField(blank=True, null=True)),
            ],
            options={
                'verbose_name_plural': 'searches',
                'ordering': ['-id'],
                'constraints': [models.CheckConstraint(condition=models.Q(('review', None), ('query', ''), _connector='OR'), name='a_search_is_a_query_or_the_ids_of_studies')],
            },
        ),
        migrations.CreateModel(
            name='Hit',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('search', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='hits', to='annotation.search')),
                ('position', models.PositiveIntegerField()),
                ('pmid', models.CharField(max_length=10)),
                ('outcome', models.CharField(choices=[('waiting', 'Waiting'), ('new', 'New'), ('known', 'Known'), ('missing', 'Missing'), ('unfit', 'Unfit')], default='waiting', max_length=7)),
                ('why', models.TextField(blank=True, help_text='Reason why the record cannot be imported.')),
            ],
            options={
                'ordering': ['search_id', 'position'],
                'indexes': [models.Index(fields=['search', 'outcome', 'position'], name='hits_by_outcome')],
                'constraints': [models.UniqueConstraint(fields=('search', 'pmid'), name='one_hit_per_pmid')],
            },
        ),
        migrations.CreateModel(
            name='PubMedAccess',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('user', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('email', models.EmailField(max_length=254)),
                ('sealed_key', models.TextField(blank=True)),
                ('changed_at', models.DateTimeField(auto_now=True)),
            ],
            options={
                'verbose_name_plural': 'PubMed accesses',
            },
        ),
        migrations.CreateModel(
            name='PubMedTurn',
            fields=[
                ('key', models.CharField(max_length=64, primary_key=True, serialize=False)),
                ('next_at', models.DateTimeField()),
            ],
        ),
        migrations.CreateModel(
            name='Screening',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('unit', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='screenings', to='projects.unit')),
                ('answer', models.OneToOneField(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='screening', to='projects.answer')),
                ('imported', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='projects.import')),
                ('screening', models.CharField(choices=[('include', 'Include'), ('not relevant', 'Not relevant to the topic'), ('not systematic', 'No systematic review'), ('no intervention', 'Not about the effect of an intervention'), ('superseded', 'Superseded by a later version'), ('retracted', 'Retracted or withdrawn'), ('no full text', 'No full text can be had'), ('no studies', 'No included studies are listed'), ('other', 'Another reason (say it in a comment)')], max_length=16)),
            ],
            options={
                'ordering': ['id'],
                'constraints': [models.CheckConstraint(condition=models.Q(models.Q(('answer__isnull', False), ('imported__isnull', True)), models.Q(('answer__isnull', True), ('imported__isnull', False)), _connector='OR'), name='screening_has_one_source'), models.UniqueConstraint(fields=('unit', 'imported'), name='one_screening_per_import')],
            },
        ),
        migrations.CreateModel(
            name='StudyList',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('unit', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='study_lists', to='projects.unit')),
                ('answer', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, related_name='study_list', to='projects.answer')),
                ('without_pmid', models.PositiveSmallIntegerField(default=0, help_text='Number of included studies that are not in PubMed.')),
            ],
            options={
                'ordering': ['id'],
            },
        ),
        migrations.CreateModel(
            name='ListedStudy',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('of', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='listed', to='annotation.studylist')),
                ('position', models.PositiveSmallIntegerField()),
                ('pmid', models.CharField(max_length=10)),
                ('missing', models.CharField(blank=True, choices=[('old', 'Older than abstracts are'), ('other language', 'In another language only'), ('no abstract', 'Published without an abstract')], help_text='Reason why there is no abstract. Empty if there is one.', max_length=14)),
            ],
            options={
                'ordering': ['of_id', 'position'],
                'constraints': [models.UniqueConstraint(fields=('of', 'pmid'), name='one_listed_study_per_pmid')],
            },
        ),
        migrations.CreateModel(
            name='DecidedLink',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('review', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='decided_links', to='annotation.review')),
                ('study', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='decided_links', to='annotation.study')),
                ('is_linked', models.BooleanField()),
            ],
            options={
                'ordering': ['id'],
                'constraints': [models.UniqueConstraint(fields=('review', 'study'), name='one_decided_link_per_study')],
            },
        ),
    ]
