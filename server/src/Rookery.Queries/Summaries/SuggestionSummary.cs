using System.Buffers;
using System.Text;
using Rookery.Indexing.Values;
using Rookery.Json;
using Rookery.Platform;
using Rookery.Queries.Conditions;
using Rookery.Queries.Language;
using Rookery.Search.Analysis;
using Rookery.Search.Values;

namespace Rookery.Queries.Summaries;

/// <summary>The order of suggestions.</summary>
internal enum SuggestionOrder
{
    /// <summary>The most similar first; equally similar ones by the number of documents.</summary>
    None,

    /// <summary>The words of most documents first; equally frequent ones by similarity.</summary>
    Popularity,
}

/// <summary>A compiled suggestion: finds words of a field that are similar to given words.</summary>
/// <param name="Name">The name in the answer.</param>
/// <param name="Field">Reads the texts.</param>
/// <param name="Terms">The given words, folded, as Unicode code points.</param>
/// <param name="PageSize">Maximum suggestions for each given word.</param>
/// <param name="Measure">The measure of similarity.</param>
/// <param name="Accuracy">The minimum similarity.</param>
/// <param name="Order">The order of suggestions.</param>
/// <param name="Analyzer">Finds the words of a text; null to compare whole texts in lower case, because the index has
/// the field's values and not their words.</param>
internal sealed record SuggestionPlan(
    string Name,
    FieldReader Field,
    int[][] Terms,
    long PageSize,
    SimilarityMeasure Measure,
    double Accuracy,
    SuggestionOrder Order,
    Analyzer? Analyzer
)
{
    /// <summary>Maximum given words of one suggestion. Each is compared with every word of the field.</summary>
    public const int MaxTerms = 64;

    private const int DefaultPageSize = 15;
    private const double DefaultAccuracy = 0.5;

    /// <summary>Compiles a suggestion.</summary>
    /// <exception cref="QueryException">The suggestion is invalid.</exception>
    public static SuggestionPlan Of(
        SelectedSuggestion suggestion,
        SelectedField item,
        FieldResolver fields,
        OperandValues operands
    )
    {
        var field = new PathReference(suggestion.Field);
        var reader = fields.CreateReader(field);
        var analyzer =
            fields is not RowFields { Rows: var rows } ? AnalyzerCatalog.Default
            : rows.IsFullText(suggestion.Field) ? rows.AnalyzerOf(field)
            : null;

        int position = suggestion.Term.Position;
        byte[][] terms = [.. operands.ReadElements([suggestion.Term])];
        if (terms.Length > MaxTerms || Array.Exists(terms, static term => term[0] != (byte)'"'))
        {
            throw new QueryException(
                terms.Length > MaxTerms ? QueryFault.TooCostly : QueryFault.Invalid,
                $"'suggest' takes a text, or a list of up to {MaxTerms}.",
                position
            );
        }

        var options = new ClauseOptions(suggestion.Options, "suggest", operands);
        var plan = new SuggestionPlan(
            item.Alias ?? suggestion.Field.ToString(),
            reader,
            [.. terms.Select(term => CharactersOf(term, analyzer, position))],
            options.ReadCount("PageSize", DefaultPageSize),
            options.ReadWord("Distance", SimilarityMeasure.Levenshtein),
            options.ReadNumber("Accuracy", DefaultAccuracy, max: 1),
            options.ReadWord("SortMode", SuggestionOrder.Popularity),
            analyzer
        );
        options.RefuseUnread();
        return plan;
    }

    /// <summary>
    /// Reads a text in lower case. Returns false if it has more than <see cref="Analyzer.MaxTokenBytes"/>, which is too
    /// long for a suggestion.
    /// </summary>
    /// <param name="json">A JSON string.</param>
    /// <param name="key">A buffer of at least <see cref="TermKey.MaxBytes"/>.</param>
    /// <param name="whole">The text, in <paramref name="key"/>; empty if it is too long.</param>
    public static bool TryReadWhole(ReadOnlySpan<byte> json, Span<byte> key, out ReadOnlySpan<byte> whole)
    {
        const int KindBytes = 1;
        ReadOnlySpan<byte> text = key[..TermKey.Write(json, isExact: false, key)];
        bool isShort = !TermKey.IsTruncated(text) && text.Length - KindBytes <= Analyzer.MaxTokenBytes;
        whole = isShort ? text[KindBytes..] : default;
        return isShort;
    }

    private static int[] CharactersOf(byte[] json, Analyzer? analyzer, int position)
    {
        ReadOnlySpan<byte> folded;
        bool isShort;
        if (analyzer is null)
        {
            isShort = TryReadWhole(json, new byte[TermKey.MaxBytes], out folded);
        }
        else
        {
            byte[] text = new byte[json.Length];
            int length = JsonText.Unescape(json.AsSpan(1, json.Length - 2), text);
            folded = analyzer.Fold(text.AsSpan(0, length));
            isShort = folded.Length <= Analyzer.MaxTokenBytes;
        }

        // A text of combining marks alone is folded to the empty text, which is similar to no word.
        return isShort
            ? [.. Encoding.UTF8.GetString(folded).EnumerateRunes().Select(static rune => rune.Value)]
            : throw new QueryException(
                QueryFault.TooCostly,
                $"A word of more than {Analyzer.MaxTokenBytes} bytes has no suggestions.",
                position
            );
    }
}

/// <summary>The summary of <c>select suggest(…), …</c>.</summary>
/// <param name="suggestions">The suggestions.</param>
internal sealed class SuggestionSummary(SuggestionPlan[] suggestions) : QuerySummary
{
    /// <inheritdoc/>
    public override SummaryRun Start(QueryMemory memory, IWorkLimits limits) => new Run(suggestions, memory, limits);

    private sealed class Run(SuggestionPlan[] suggestions, QueryMemory memory, IWorkLimits limits) : SummaryRun
    {
        private readonly ScanMemory _memory = new(memory);
        private readonly ScanWork _work = new(limits);
        private readonly SearchableText _buffer = new();
        private readonly SuggestionTable[] _tables =
        [
            .. suggestions.Select(static suggestion => new SuggestionTable(suggestion)),
        ];

        public override int Count => _tables.Length;

        public override void Add(in QueriedDocument document)
        {
            foreach (SuggestionTable table in _tables)
            {
                table.Add(document, _buffer, _work, _memory);
            }
        }

        public override void Write(int index, IBufferWriter<byte> output) => _tables[index].Write(output, _work);

        public override void Dispose()
        {
            _memory.Dispose();
            _work.Release();
            _buffer.Release();
        }
    }
}

/// <summary>
/// The words of a field that are similar to given words, with the number of documents or rows that contain each. Not
/// thread-safe.
/// </summary>
/// <param name="plan">The compiled suggestion.</param>
internal sealed class SuggestionTable(SuggestionPlan plan)
{
    // Estimate for one word: objects, references and a table entry.
    private const int BytesPerWord = 160;

    private readonly Dictionary<byte[], Candidate> _candidates = new(BytesComparer.Instance);
    private long _documents;

    private Analyzer? FieldAnalyzer => plan.Analyzer;

    /// <summary>Adds the words of a document.</summary>
    public void Add(in QueriedDocument document, SearchableText buffer, ScanWork work, ScanMemory memory)
    {
        work.CountBytes(document.Members.Length);
        _documents++;
        var visitor = new Visitor(this, buffer, work, memory);
        plan.Field.Read(document, ref visitor);
    }

    /// <summary>
    /// Writes the suggestions as RavenDB does: <c>{"Name","Suggestions":[…]}</c>. Suggestions for several given words
    /// follow each other.
    /// </summary>
    public void Write(IBufferWriter<byte> output, ScanWork work)
    {
        output.Write("{\"Name\":"u8);
        JsonText.WriteString(output, Encoding.UTF8.GetBytes(plan.Name));
        output.Write(",\"Suggestions\":["u8);
        var written = new HashSet<byte[]>(BytesComparer.Instance);
        for (int term = 0; term < plan.Terms.Length; term++)
        {
            work.CountBytes((int)Math.Min((long)_candidates.Count * BytesPerWord, int.MaxValue / 2));
            foreach (byte[] word in Best(term))
            {
                if (written.Add(word))
                {
                    output.Write(written.Count == 1 ? ""u8 : ","u8);
                    JsonText.WriteString(output, word);
                }
            }
        }

        output.Write("]}"u8);
    }

    private IEnumerable<byte[]> Best(int term)
    {
        var similar = _candidates.Where(one => one.Value.Similarities[term] > 0);
        var ordered =
            plan.Order == SuggestionOrder.Popularity
                ? similar
                    .OrderByDescending(static one => one.Value.Frequency)
                    .ThenByDescending(one => one.Value.Similarities[term])
                : similar
                    .OrderByDescending(one => one.Value.Similarities[term])
                    .ThenByDescending(static one => one.Value.Frequency);
        return ordered
            .ThenBy(
                static one => one.Key,
                Comparer<byte[]>.Create(static (one, other) => one.AsSpan().SequenceCompareTo(other))
            )
            .Take((int)Math.Min(plan.PageSize, int.MaxValue))
            .Select(static one => one.Key);
    }

    private void AddWord(ReadOnlySpan<byte> word, ScanWork work, ScanMemory memory)
    {
        var lookup = _candidates.GetAlternateLookup<ReadOnlySpan<byte>>();
        if (lookup.TryGetValue(word, out Candidate? known))
        {
            known.CountIn(_documents);
            return;
        }

        Span<int> characters = stackalloc int[Analyzer.MaxTokenBytes];
        int length = 0;
        for (var remaining = word; !remaining.IsEmpty; )
        {
            Rune.DecodeFromUtf8(remaining, out Rune rune, out int bytes);
            characters[length++] = rune.Value;
            remaining = remaining[bytes..];
        }

        double[]? similarities = null;
        for (int term = 0; term < plan.Terms.Length; term++)
        {
            // Every measure compares at most each character with each.
            work.CountBytes(length, plan.Terms[term].Length);

            // A word is not suggested for itself.
            var candidate = characters[..length];
            double similarity =
                candidate.SequenceEqual(plan.Terms[term]) || !LetterGrams.AreShared(candidate, plan.Terms[term])
                    ? 0
                    : TextSimilarity.Of(plan.Measure, plan.Terms[term], candidate, plan.Accuracy);
            if (similarity > 0)
            {
                similarities ??= new double[plan.Terms.Length];
                similarities[term] = similarity;
            }
        }

        if (similarities is not null)
        {
            memory.Reserve(BytesPerWord + word.Length + (similarities.Length * sizeof(double)));
            _candidates.Add(word.ToArray(), new Candidate(similarities, _documents));
        }
    }

    private sealed class Candidate(double[] similarities, long document)
    {
        private long _lastDocument = document;

        public double[] Similarities => similarities;

        public long Frequency { get; private set; } = 1;

        /// <summary>Counts a document that contains the word, once however often it occurs there.</summary>
        public void CountIn(long document)
        {
            Frequency += document > _lastDocument ? 1 : 0;
            _lastDocument = document;
        }
    }

    private readonly struct Visitor(SuggestionTable table, SearchableText buffer, ScanWork work, ScanMemory memory)
        : IValueVisitor
    {
        public bool Visit(scoped ReadOnlySpan<byte> json)
        {
            if (table.FieldAnalyzer is not { } analyzer)
            {
                Span<byte> key = stackalloc byte[TermKey.MaxBytes];
                if (json[0] == (byte)'"' && SuggestionPlan.TryReadWhole(json, key, out var whole) && !whole.IsEmpty)
                {
                    table.AddWord(whole, work, memory);
                }

                return true;
            }

            var sink = new Sink(table, work, memory);
            analyzer.Analyze(buffer.Of(json), AnalysisPurpose.Index, firstPosition: 0, ref sink);
            return true;
        }
    }

    private readonly struct Sink(SuggestionTable table, ScanWork work, ScanMemory memory) : ITokenSink
    {
        public bool Add(scoped in Token token)
        {
            table.AddWord(token.Bytes, work, memory);
            return true;
        }
    }
}
