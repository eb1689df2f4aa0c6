using System.Globalization;
using System.Text;
using Rookery.Platform;
using Rookery.Search.Segments.Postings;
using Rookery.Search.Segments.Reading;
using Rookery.Search.Segments.Store;
using Rookery.Simulation;

namespace Rookery.Fixtures;

/// <summary>
/// Everything that queries can read of an index's store, as text. An entry is a list of parts, separated by <c>|</c>:
/// <c>t:FIELD:TERM</c> for a term, <c>w:FIELD:TERM@POSITIONS</c> for a word, <c>s:</c> for the sort key and <c>n:</c>
/// for the length of a field, <c>e:</c> for the etag and <c>v:</c> for the stored row. Terms are in hexadecimal.
/// </summary>
public static class StoreContents
{
    /// <summary>Returns the context of stores on a disk, with their own memory.</summary>
    public static SegmentStoreContext ContextOf(IDisk disk, long cacheBytes = 1 << 20)
    {
        var budget = new MemoryBudget(64 << 20);
        return new SegmentStoreContext(
            disk,
            new SegmentCache(budget.AddShare("pages", cacheBytes)),
            budget.AddShare("batches", limitBytes: 32 << 20),
            NoRecorder.Instance
        );
    }

    /// <summary>Returns the entries of each live document, by lower-cased id.</summary>
    public static SortedDictionary<string, string[]> Of(IIndexStore store)
    {
        using var snapshot = store.OpenSnapshot();
        return Of(snapshot);
    }

    /// <summary>Returns the entries of each live document, by lower-cased id.</summary>
    public static SortedDictionary<string, string[]> Of(IndexSnapshot snapshot)
    {
        var documents = new SortedDictionary<string, string[]>(StringComparer.Ordinal);
        foreach (var (reader, live) in snapshot.Segments)
        {
            Assert.Equal(reader.Entries, live.Entries);
            var parts = Enumerable.Range(0, reader.Entries).Select(static _ => new List<string>()).ToArray();
            foreach (var field in reader.Fields)
            {
                ReadField(field, parts);
            }

            ReadEntries(reader, live, parts);
            foreach (var (id, entries) in ReadIds(reader, live, parts))
            {
                Assert.True(documents.TryAdd(id, entries), $"{id} is live in only one segment");
            }
        }

        return documents;
    }

    /// <summary>Returns the terms of each document, unordered and without other parts.</summary>
    public static SortedDictionary<string, string[]> TermsOf(IIndexStore store) =>
        new(
            Of(store)
                .ToDictionary(
                    static document => document.Key,
                    static document =>
                        document
                            .Value.SelectMany(static entry => entry.Split('|'))
                            .Where(static part => part.StartsWith("t:", StringComparison.Ordinal))
                            .Select(static part => part[2..])
                            .Order(StringComparer.Ordinal)
                            .ToArray(),
                    StringComparer.Ordinal
                ),
            StringComparer.Ordinal
        );

    /// <summary>Returns the terms of an entry, in the same form.</summary>
    public static string[] TermsOf(IndexEntry entry) =>
        [
            .. entry
                .Terms()
                .Select(static term => $"{term.Field}:{Convert.ToHexString(term.Term)}")
                .Distinct(StringComparer.Ordinal)
                .Order(StringComparer.Ordinal),
        ];

    /// <summary>Adds the terms, sort keys and lengths of a field to the parts of each entry.</summary>
    private static void ReadField(SegmentField field, List<string>[] parts)
    {
        var terms = field.Terms();
        var sortedTerms = new List<string>();
        int[] positions = [];
        while (terms.MoveNext())
        {
            string term = Convert.ToHexString(terms.Term);
            Assert.Equal(sortedTerms.Count, terms.Ordinal);
            Assert.True(sortedTerms.Count == 0 || string.CompareOrdinal(sortedTerms[^1], term) < 0, "terms ascend");
            sortedTerms.Add(term);
            var postings = field.Postings(terms.Term);
            long count = 0;
            for (
                int entry = postings?.MoveNext() ?? EntryCursor.End;
                entry != EntryCursor.End;
                entry = postings!.MoveNext(), count++
            )
            {
                int read = field.IsText ? postings!.ReadPositions(ref positions) : 0;
                string positionList = field.IsText ? "@" + string.Join(',', positions[..read]) : "";
                parts[entry].Add($"{(field.IsText ? 'w' : 't')}:{field.Number}:{term}{positionList}");
            }

            Assert.Equal(count, field.EntryCount(terms.Term));
        }

        long total = 0;
        for (int entry = 0; entry < parts.Length; entry++)
        {
            if (field.SortOrdinals?[entry] is { } ordinal and > 0)
            {
                parts[entry].Add($"s:{field.Number}:{sortedTerms[(int)ordinal - 1]}");
            }

            if (field.Lengths?[entry] is { } length and > 0)
            {
                total += (long)length;
                parts[entry].Add(string.Create(CultureInfo.InvariantCulture, $"n:{field.Number}:{length}"));
            }
        }

        Assert.Equal(total, field.TotalLength);
    }

    /// <summary>Adds the etag and the stored row of each live entry to its parts.</summary>
    private static void ReadEntries(SegmentReader reader, LiveEntries live, List<string>[] parts)
    {
        var documents = reader.Documents();
        using var stored = reader.HasStored ? reader.Stored() : null;
        for (int entry = 0; entry < reader.Entries; entry++)
        {
            if (live.IsLive(entry))
            {
                documents.Read(entry, out long etag);
                parts[entry].Add(string.Create(CultureInfo.InvariantCulture, $"e:{etag}"));
                if (stored is not null && stored.Read(entry) is { Length: > 0 } value)
                {
                    parts[entry].Add($"v:{Convert.ToHexString(value)}");
                }
            }
        }
    }

    /// <summary>Returns the live documents of a segment with the parts of their entries.</summary>
    private static IEnumerable<(string Id, string[] Entries)> ReadIds(
        SegmentReader reader,
        LiveEntries live,
        List<string>[] parts
    )
    {
        var ids = reader.Ids();
        int entries = 0;
        while (ids.MoveNext())
        {
            var (first, count) = reader.EntriesOf(ids);
            string id = Encoding.UTF8.GetString(ids.Key);
            Assert.All(
                Enumerable.Range(first, count),
                entry => Assert.Equal(id, Encoding.UTF8.GetString(reader.Documents().Read(entry, out _)))
            );
            entries += count;
            Assert.Single(Enumerable.Range(first, count).Select(live.IsLive).Distinct());
            if (live.IsLive(first))
            {
                yield return (
                    id,
                    [
                        .. Enumerable
                            .Range(first, count)
                            .Select(entry => string.Join('|', parts[entry].Order(StringComparer.Ordinal))),
                    ]
                );
            }
        }

        Assert.Equal(reader.Entries, entries);
    }
}
