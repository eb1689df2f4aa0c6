using System.Text;
using Rookery.Documents.Databases;
using Rookery.Documents.Ids;
using Rookery.Json;
using Rookery.Platform;
using Rookery.Queries.Answering;
using Rookery.Server.Raven.Documents;

namespace Rookery.Server.Raven.Counters;

/// <summary>
/// Collects the documents whose counters the answer of a query includes, and writes these counters. A part is one path
/// of the query's includes with the names of its counters.
/// </summary>
internal sealed class QueryCounterIncludes : IDisposable
{
    // Estimated overhead: the id as stored and in lower case, and a slot in a table and in a list.
    private const int BytesPerDocument = 256;

    private readonly MemoryShare _memory;
    private readonly List<(IncludedCounters Counters, IncludePaths Ids)> _parts = [];
    private readonly Dictionary<ulong, IReadOnlyList<byte[]>?> _namesByParts = [];
    private long _heldBytes;

    /// <summary>Prepares the parts of a query.</summary>
    /// <param name="included">The parts, each with another path.</param>
    /// <param name="memory">Reserves the memory of the ids.</param>
    /// <param name="check">Called regularly while paths are followed; may throw to end the work.</param>
    /// <exception cref="RefusedException">A path has an unsupported form, or there are too many.</exception>
    public QueryCounterIncludes(IReadOnlyList<IncludedCounters> included, MemoryShare memory, Action check)
    {
        if (included.Count > IncludePaths.MaxPaths)
        {
            throw RefusedException.BadRequest(
                $"A query includes counters by at most {IncludePaths.MaxPaths} paths; this one has {included.Count}."
            );
        }

        _memory = memory;
        foreach (var counters in included)
        {
            string[] paths = counters.Path is { } path ? [path] : [];
            _parts.Add((counters, new IncludePaths(paths, memory, check)));
        }
    }

    /// <summary>Whether the query includes no counters.</summary>
    public bool IsEmpty => _parts.Count == 0;

    /// <summary>Collects the current result, or the ids that it refers to.</summary>
    public void Collect(IQueryResults results)
    {
        foreach (var (counters, ids) in _parts)
        {
            if (counters.Path is null)
            {
                ids.Include(results.Id);
            }
            else
            {
                results.Collect(ids);
            }
        }
    }

    /// <summary>
    /// Writes <c>,"CounterIncludes":{ID:[DETAIL or null,…],…},"IncludedCounterNames":{ID:[NAME,…],…}</c> for those of
    /// the documents that exist. The names are those that the query asks for; none means all, as in RavenDB.
    /// </summary>
    /// <param name="answer">The response.</param>
    /// <param name="results">The results, whose snapshot is read.</param>
    /// <param name="slices">Ends the work when the client leaves.</param>
    public async Task WriteAsync(DocumentResponse answer, IQueryResults results, RequestTimeSlices slices)
    {
        Func<DatabaseReader> read = () => results.Reader;
        var documents = MergeIds();
        var written = new List<(byte[] Id, IReadOnlyList<byte[]>? Names)>();
        answer.Write(",\"CounterIncludes\":{"u8);
        foreach (var (id, parts) in documents.Values)
        {
            await slices.YieldWhenDueAsync();
            var wanted = NamesOf(parts);
            if (CounterIncludes.Find(results.Reader, id, withNames: wanted is null) is not { } document)
            {
                continue;
            }

            answer.Write(written.Count == 0 ? ""u8 : ","u8);
            written.Add((document.Id, wanted));
            await CounterIncludes.WriteDocumentAsync(
                answer,
                read,
                results.Pause,
                document,
                wanted,
                slices,
                tag: default // the tag of a query contains the database's last etag, which counters move
            );
            await answer.SendWhenDueAsync(results.Pause);
        }

        answer.Write("},\"IncludedCounterNames\":{"u8);
        bool isFirst = true;
        foreach (var (id, wanted) in written)
        {
            answer.Write(isFirst ? ""u8 : ","u8);
            isFirst = false;
            WriteNames(answer.Buffer, id, wanted ?? []);
            await answer.SendWhenDueAsync(results.Pause);
        }

        answer.Write("}"u8);
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        _memory.Release(_heldBytes);
        _heldBytes = 0;
        foreach (var (_, ids) in _parts)
        {
            ids.Dispose();
        }
    }

    private static void WriteNames(ResponseBuffer output, byte[] id, IReadOnlyList<byte[]> names)
    {
        JsonText.WriteString(output, id);
        output.Write(":["u8);
        for (int i = 0; i < names.Count; i++)
        {
            output.Write(i == 0 ? ""u8 : ","u8);
            JsonText.WriteString(output, names[i]);
        }

        output.Write("]"u8);
    }

    // A document can be a result and also be referred to by another result. Each bit of Parts stands for one part.
    private Dictionary<string, (string Id, ulong Parts)> MergeIds()
    {
        var documents = new Dictionary<string, (string Id, ulong Parts)>(StringComparer.Ordinal);
        for (int i = 0; i < _parts.Count; i++)
        {
            foreach (string id in _parts[i].Ids.Ids)
            {
                string key = CounterIncludes.LowerId(id);
                bool isNew = !documents.TryGetValue(key, out var known);
                if (isNew)
                {
                    Reserve(BytesPerDocument + ((long)sizeof(char) * 2 * id.Length));
                }

                documents[key] = (isNew ? id : known.Id, known.Parts | (1UL << i));
            }
        }

        return documents;
    }

    private void Reserve(long bytes)
    {
        if (!_memory.TryReserveFromCaches(bytes))
        {
            throw RefusedException.InvalidQuery(
                "The documents whose counters the query includes need more memory than is free of "
                    + $"the {_memory.LimitBytes >> 20} MiB that queries may use: ask for fewer results at once."
            );
        }

        _heldBytes += bytes;
    }

    /// <summary>Returns the names that some parts ask for; null for all counters.</summary>
    private IReadOnlyList<byte[]>? NamesOf(ulong parts)
    {
        if (_namesByParts.TryGetValue(parts, out var known))
        {
            return known;
        }

        var names = new List<byte[]>();
        bool isAll = false;
        for (int i = 0; i < _parts.Count; i++)
        {
            if ((parts & (1UL << i)) != 0)
            {
                isAll |= _parts[i].Counters.Names is null;
                names.AddRange(_parts[i].Counters.Names ?? []);
            }
        }

        IReadOnlyList<byte[]>? distinct = isAll
            ? null
            : [.. names.DistinctBy(static name => Encoding.UTF8.GetString(name), IgnoredCase.OfNames)];
        _namesByParts.Add(parts, distinct);
        return distinct;
    }
}
