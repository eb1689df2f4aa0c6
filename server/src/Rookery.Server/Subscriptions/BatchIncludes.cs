using System.Text;
using System.Text.Json;
using Rookery.Documents.Databases;
using Rookery.Documents.Ids;
using Rookery.Documents.Stored;
using Rookery.Json;
using Rookery.Platform;
using Rookery.Queries.Subscriptions;
using Rookery.Server.Raven;
using Rookery.Server.Raven.Counters;
using Rookery.Server.Raven.Documents;

namespace Rookery.Server.Subscriptions;

/// <summary>Collects what the documents of a batch refer to, and writes the messages with it.</summary>
internal sealed class BatchIncludes(
    Database database,
    SubscriptionCriteria criteria,
    MemoryShare memory,
    CancellationToken ending
) : IDisposable
{
    private readonly byte[] _historyId = Encoding.ASCII.GetBytes(database.HistoryId);
    private readonly List<byte[]> _resultIds = [];
    private IncludePaths? _paths;

    /// <summary>Forgets the previous batch.</summary>
    public void Begin()
    {
        _resultIds.Clear();
        _paths?.Dispose();
        _paths =
            criteria.Includes.Count == 0
                ? null
                : new IncludePaths(criteria.Includes, memory, ending.ThrowIfCancellationRequested);
    }

    /// <summary>Collects the references of a document of the batch.</summary>
    public void Collect(in DocumentView view)
    {
        _paths?.Collect(view);
        if (criteria.IncludedCounters.Count > 0)
        {
            _resultIds.Add(view.Id.ToArray());
        }
    }

    /// <summary>
    /// Writes the messages <c>Includes</c> and <c>CounterIncludes</c>, in parts. A part is valid until the next one.
    /// </summary>
    public IEnumerable<ReadOnlyMemory<byte>> Documents(bool withCounters)
    {
        using var buffer = ResponseBuffer.Rent();
        if (_paths is { Ids.Count: > 0 } paths)
        {
            buffer.Write("{\"Type\":\"Includes\",\"Includes\":{"u8);
            bool isFirst = true;
            foreach (string id in paths.Ids)
            {
                WriteDocument(buffer, id, ref isFirst);
                if (buffer.IsPartDue)
                {
                    yield return buffer.Written;
                    buffer.Truncate(0);
                    buffer.Trim();
                }
            }

            buffer.Write("}}"u8);
            yield return buffer.Written;
            buffer.Truncate(0);
        }

        if (withCounters && _resultIds.Count > 0)
        {
            var names = criteria.IncludedCounters[0].Names;
            buffer.Write("{\"Type\":\"CounterIncludes\",\"CounterIncludes\":{"u8);
            for (int i = 0; i < _resultIds.Count; i++)
            {
                buffer.Write(i == 0 ? ""u8 : ","u8);
                WriteCounters(buffer, _resultIds[i], names);
                if (buffer.IsPartDue)
                {
                    yield return buffer.Written;
                    buffer.Truncate(0);
                    buffer.Trim();
                }
            }

            buffer.Write("},\"IncludedCounterNames\":{"u8);
            for (int i = 0; i < _resultIds.Count; i++)
            {
                buffer.Write(i == 0 ? ""u8 : ","u8);
                WriteNames(buffer, _resultIds[i], names ?? []);
                if (buffer.IsPartDue)
                {
                    yield return buffer.Written;
                    buffer.Truncate(0);
                    buffer.Trim();
                }
            }

            buffer.Write("}}"u8);
            yield return buffer.Written;
        }
    }

    /// <inheritdoc/>
    public void Dispose() => _paths?.Dispose();

    private void WriteDocument(ResponseBuffer buffer, string id, ref bool isFirst)
    {
        using var reader = database.OpenReader();
        byte[] utf8 = Encoding.UTF8.GetBytes(id);
        if (!DocumentId.TryValidate(utf8, out _) || !reader.TryGetDocument(utf8, out var document))
        {
            return;
        }

        using (document)
        {
            buffer.Write(isFirst ? "\""u8 : ",\""u8);
            buffer.Write(JsonEncodedText.Encode(id).EncodedUtf8Bytes);
            buffer.Write("\":"u8);
            document.Write(buffer, _historyId);
            isFirst = false;
        }
    }

    private void WriteCounters(ResponseBuffer buffer, byte[] id, IReadOnlyList<byte[]>? names)
    {
        using var reader = database.OpenReader();
        JsonText.WriteString(buffer, id);
        buffer.Write(":["u8);
        bool isFirst = true;
        foreach (byte[] name in names ?? NamesOf(reader, id))
        {
            long? value = reader.ReadCounter(id, name, out _);
            if (names is null && value is null)
            {
                continue;
            }

            buffer.Write(isFirst ? ""u8 : ","u8);
            isFirst = false;
            CounterJson.WriteDetail(buffer, id, name, value);
        }

        buffer.Write("]"u8);
    }

    private static List<byte[]> NamesOf(in DatabaseReader reader, byte[] id) =>
        CounterIncludes.Find(reader, Encoding.UTF8.GetString(id), withNames: true)?.Names ?? [];

    private static void WriteNames(ResponseBuffer buffer, byte[] id, IReadOnlyList<byte[]> names)
    {
        JsonText.WriteString(buffer, id);
        buffer.Write(":["u8);
        for (int i = 0; i < names.Count; i++)
        {
            buffer.Write(i == 0 ? ""u8 : ","u8);
            JsonText.WriteString(buffer, names[i]);
        }

        buffer.Write("]"u8);
    }
}
