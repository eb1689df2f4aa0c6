using System.Buffers;
using System.Globalization;
using System.Text;
using Rookery.Indexing.Grouping;
using Rookery.Indexing.Values;
using Rookery.Json;
using Rookery.Platform;
using Rookery.Queries.Conditions;
using Rookery.Search.Values;

namespace Rookery.Queries.Summaries;

/// <summary>The summary of <c>select facet(…), …</c>.</summary>
/// <param name="facets">The facets.</param>
internal sealed class FacetSummary(FacetPlan[] facets) : QuerySummary
{
    /// <inheritdoc/>
    public override SummaryRun Start(QueryMemory memory, IWorkLimits limits) => new Run(facets, memory, limits);

    private sealed class Run(FacetPlan[] facets, QueryMemory memory, IWorkLimits limits) : SummaryRun
    {
        private readonly ScanMemory _memory = new(memory);
        private readonly ScanWork _work = new(limits);
        private readonly FacetTable[] _tables = [.. facets.Select(static facet => new FacetTable(facet))];

        public override int Count => _tables.Length;

        public override void Add(in QueriedDocument document)
        {
            foreach (FacetTable table in _tables)
            {
                table.Add(document, _work, _memory);
            }
        }

        public override void Write(int index, IBufferWriter<byte> output) => _tables[index].Write(output);

        public override void ReadValues(int index, Action<ReadOnlyMemory<byte>> receive) =>
            _tables[index].ReadValues(receive);

        public override void Dispose()
        {
            _memory.Dispose();
            _work.Release();
        }
    }
}

/// <summary>
/// The buckets of one facet. A document counts once in each bucket that any of its values belongs to. Not thread-safe.
/// </summary>
internal sealed class FacetTable
{
    // Estimate for one bucket: objects, references and a table entry.
    private const int BytesPerBucket = 256;

    // Values whose JSON is held at once while ids among them are collected: less than 1 MiB.
    private const int ValuesAtOnce = 256;

    private readonly FacetPlan _plan;
    private readonly Dictionary<byte[], Bucket> _buckets = new(BytesComparer.Instance);
    private readonly Bucket[] _ranges;

    // The buckets of the document that is being added.
    private readonly List<Bucket> _documentBuckets = [];
    private long _documents;

    /// <summary>Creates a table without documents.</summary>
    public FacetTable(FacetPlan plan)
    {
        _plan = plan;
        _ranges = [.. plan.Ranges.Select(_ => new Bucket(plan.Numbers))];
    }

    /// <summary>Adds a document.</summary>
    public void Add(in QueriedDocument document, ScanWork work, ScanMemory memory)
    {
        _documents++;
        _documentBuckets.Clear();
        for (int range = 0; range < _ranges.Length; range++)
        {
            if (_plan.Ranges[range].Condition.Matches(document, work))
            {
                _documentBuckets.Add(_ranges[range]);
            }
        }

        if (_plan.Field is { } field)
        {
            work.CountBytes(document.Members.Length);
            var visitor = new BucketFinder(this, memory);
            field.Read(document, ref visitor);
        }

        _documentBuckets.ForEach(static bucket => bucket.Count++);
        for (int i = 0; i < _plan.Numbers.Length && _documentBuckets.Count > 0; i++)
        {
            work.CountBytes(document.Members.Length);
            var visitor = new NumberAdder(_documentBuckets, i, memory);
            _plan.Numbers[i].Reader.Read(document, ref visitor);
        }
    }

    /// <summary>
    /// Writes the facet as RavenDB does:
    /// <c>{"Name","Values":[{"Name","Range","Count",…}],"RemainingHits","RemainingTermsCount","RemainingTerms"}</c>.
    /// </summary>
    public void Write(IBufferWriter<byte> output)
    {
        var all = _plan.Field is null
            ? [.. _plan.Ranges.Select((range, index) => (range.Text, _ranges[index]))]
            : InOrder();
        var (from, to) = PageOf(all.Length);
        output.Write("{\"Name\":"u8);
        WriteText(_plan.Name, output);
        output.Write(",\"Values\":["u8);
        bool isFirst = true;
        foreach (var (text, bucket) in all[from..to])
        {
            WriteBucket(text, bucket, ref isFirst, output);
        }

        var remaining = all[to..];
        output.Write(
            Encoding.UTF8.GetBytes(
                string.Create(
                    CultureInfo.InvariantCulture,
                    $"],\"RemainingHits\":{remaining.Sum(static one => one.Bucket.Count)}"
                        + $",\"RemainingTermsCount\":{remaining.Length},\"RemainingTerms\":["
                )
            )
        );
        for (int term = 0; _plan.NamesRemaining && term < remaining.Length; term++)
        {
            output.Write(term == 0 ? ""u8 : ","u8);
            WriteText(remaining[term].Text, output);
        }

        output.Write("]}"u8);
    }

    /// <summary>
    /// Passes the values of the page as members of an object, without braces, as a document with these values has them.
    /// Passes nothing for ranges.
    /// </summary>
    public void ReadValues(Action<ReadOnlyMemory<byte>> receive)
    {
        if (_plan.FieldPath is not { } path)
        {
            return;
        }

        var all = InOrder();
        var (from, to) = PageOf(all.Length);
        var output = new ArrayBufferWriter<byte>();
        foreach (var values in all[from..to].Chunk(ValuesAtOnce))
        {
            output.ResetWrittenCount();
            WriteValues(path, values, output);
            receive(output.WrittenMemory);
        }
    }

    private static void WriteValues(
        FieldPath path,
        (string Text, Bucket Bucket)[] values,
        ArrayBufferWriter<byte> output
    )
    {
        for (int step = 0; step < path.Steps.Count; step++)
        {
            output.Write(step == 0 ? ""u8 : "{"u8);
            WriteText(path.Steps[step].Name, output);
            output.Write(":"u8);
        }

        output.Write("["u8);
        for (int value = 0; value < values.Length; value++)
        {
            output.Write(value == 0 ? ""u8 : ","u8);
            WriteText(values[value].Text, output);
        }

        output.Write("]"u8);
        for (int step = 1; step < path.Steps.Count; step++)
        {
            output.Write("}"u8);
        }
    }

    private (int From, int To) PageOf(int count)
    {
        int from = (int)Math.Min(_plan.Start, count);
        return (from, from + (int)Math.Min(_plan.PageSize, count - from));
    }

    private (string Text, Bucket Bucket)[] InOrder()
    {
        (string Text, byte[] Key, Bucket Bucket)[] all =
        [
            .. _buckets.Select(static one => (TextOf(one.Key), one.Key, one.Value)),
        ];
        int sign = _plan.Order is FacetOrder.ValueDesc or FacetOrder.CountDesc ? -1 : 1;
        bool isByCount = _plan.Order is FacetOrder.CountAsc or FacetOrder.CountDesc;
        Array.Sort(
            all,
            (one, other) =>
            {
                int order = isByCount ? sign * one.Bucket.Count.CompareTo(other.Bucket.Count) : 0;
                return order != 0 ? order : CompareValues(one, other) * (isByCount ? 1 : sign);
            }
        );
        return [.. all.Select(static one => (one.Text, one.Bucket))];
    }

    // As in RavenDB, values are ordered by their names: 18 comes before 8. Long texts with the same beginning have
    // equal names.
    private static int CompareValues(
        (string Text, byte[] Key, Bucket Bucket) one,
        (string Text, byte[] Key, Bucket Bucket) other
    )
    {
        int order = string.CompareOrdinal(one.Text, other.Text);
        return order != 0 ? order : one.Key.AsSpan().SequenceCompareTo(other.Key);
    }

    /// <summary>
    /// Returns the name of a value as in RavenDB: texts in lower case, and names for null and the empty text.
    /// </summary>
    private static string TextOf(byte[] key)
    {
        switch (TermKey.KindOf(key))
        {
            case ValueKind.Null:
                return "NULL_VALUE";
            case ValueKind.Text:
                string text = Encoding.UTF8.GetString(key, 1, Math.Min(key.Length - 1, TermKey.MaxTextBytes));
                return TermKey.IsTruncated(key) ? text.TrimEnd('\uFFFD') + "…"
                    : text.Length == 0 ? "EMPTY_STRING"
                    : text;
            default:
                var output = new ArrayBufferWriter<byte>();
                TermKey.WriteJson(key, output);
                return Encoding.UTF8.GetString(output.WrittenSpan);
        }
    }

    private void WriteBucket(string text, Bucket bucket, ref bool isFirst, IBufferWriter<byte> output)
    {
        for (int i = 0; i < Math.Max(_plan.Numbers.Length, 1); i++)
        {
            output.Write(isFirst ? "{\"Name\":"u8 : ",{\"Name\":"u8);
            isFirst = false;
            if (_plan.Numbers.Length == 0)
            {
                output.Write("null"u8);
            }
            else
            {
                WriteText(_plan.Numbers[i].Name, output);
            }

            output.Write(",\"Range\":"u8);
            WriteText(text, output);
            output.Write(
                Encoding.UTF8.GetBytes(string.Create(CultureInfo.InvariantCulture, $",\"Count\":{bucket.Count}"))
            );
            if (_plan.Numbers.Length > 0)
            {
                bucket.WriteNumbers(i, _plan.Numbers[i].Kinds, output);
            }

            output.Write("}"u8);
        }
    }

    private static void WriteText(string text, IBufferWriter<byte> output) =>
        JsonText.WriteString(output, Encoding.UTF8.GetBytes(text));

    private Bucket FindOrAddBucket(ReadOnlySpan<byte> key, ScanMemory memory)
    {
        var lookup = _buckets.GetAlternateLookup<ReadOnlySpan<byte>>();
        if (!lookup.TryGetValue(key, out Bucket? bucket))
        {
            memory.Reserve(
                BytesPerBucket
                    + key.Length
                    + (_plan.Numbers.Sum(static numbers => numbers.Kinds.Length) * Accumulator.Bytes)
            );
            bucket = new Bucket(_plan.Numbers);
            _buckets.Add(key.ToArray(), bucket);
        }

        return bucket;
    }

    private sealed class Bucket(FacetNumbers[] numbers)
    {
        private readonly Accumulator[][] _accumulators =
        [
            .. numbers.Select(static field => field.Kinds.Select(static _ => new Accumulator()).ToArray()),
        ];

        public long Count { get; set; }

        /// <summary>
        /// The number of the document counted last. Its further values in this bucket are not counted.
        /// </summary>
        public long LastDocument { get; set; }

        public void Add(int field, ReadOnlySpan<byte> json, ScanMemory memory)
        {
            for (int kind = 0; kind < _accumulators[field].Length; kind++)
            {
                _accumulators[field][kind].Add(numbers[field].Kinds[kind], json, memory);
            }
        }

        public void WriteNumbers(int field, AggregateKind[] kinds, IBufferWriter<byte> output)
        {
            var json = new PooledBytes();
            for (int kind = 0; kind < kinds.Length; kind++)
            {
                output.Write(
                    kinds[kind] switch
                    {
                        AggregateKind.Sum => ",\"Sum\":"u8,
                        AggregateKind.Min => ",\"Min\":"u8,
                        AggregateKind.Max => ",\"Max\":"u8,
                        _ => ",\"Average\":"u8,
                    }
                );
                json.Clear();
                _accumulators[field][kind].Append(kinds[kind], Count, json);
                output.Write(json.Written);
            }

            json.Release();
        }
    }

    private readonly struct BucketFinder(FacetTable table, ScanMemory memory) : IValueVisitor
    {
        public bool Visit(scoped ReadOnlySpan<byte> json)
        {
            if (json[0] == (byte)'{')
            {
                return true;
            }

            Span<byte> key = stackalloc byte[TermKey.MaxBytes];
            Bucket bucket = table.FindOrAddBucket(key[..TermKey.Write(json, isExact: false, key)], memory);
            if (bucket.LastDocument != table._documents)
            {
                bucket.LastDocument = table._documents;
                table._documentBuckets.Add(bucket);
            }

            return true;
        }
    }

    private readonly struct NumberAdder(List<Bucket> buckets, int field, ScanMemory memory) : IValueVisitor
    {
        public bool Visit(scoped ReadOnlySpan<byte> json)
        {
            if (json[0] is (byte)'-' or (>= (byte)'0' and <= (byte)'9'))
            {
                foreach (Bucket bucket in buckets)
                {
                    bucket.Add(field, json, memory);
                }
            }

            return true;
        }
    }
}
