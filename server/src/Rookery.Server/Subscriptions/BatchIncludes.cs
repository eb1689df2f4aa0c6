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

    // Estimated overhead of an id in a list.
    private const int BytesPerId = 64;

    private readonly List<byte[]> _resultIds = [];
    private IncludePaths? _paths;
    private long _heldBytes; // for the ids of the results
    private bool _hasDocuments;

    /// <summary>Forgets the previous batch.</summary>
    public void Begin()
    {
        Dispose();
        _resultIds.Clear();
        _hasDocuments = false;
        _paths =
            criteria.Includes.Count == 0
                ? null
                : new IncludePaths(criteria.Includes, memory, ending.ThrowIfCancellationRequested);
    }

    /// <summary>Collects the references of a document of the batch.</summary>
    /// <returns>False if there is no memory for them now, so that the batch must end before the document.</returns>
    /// <exception cref="RefusedException">One document refers to more than this node has memory for.</exception>
    public bool TryCollect(in DocumentView view)
    {
        try
        {
            _paths?.Collect(view);
        }
        catch (RefusedException) when (_hasDocuments || _paths!.HeldBytes < memory.LimitBytes / 2)
        {
            return false;
        }

        if (criteria.IncludedCounters.Count > 0)
        {
            int bytes = BytesPerId + view.Id.Length;
            if (!memory.TryReserveFromCaches(bytes))
            {
                return false;
            }

            _heldBytes += bytes;
            _resultIds.Add(view.Id.ToArray());
        }

        _hasDocuments = true;
        return true;
    }

    /// <summary>
    /// Writes the messages <c>Includes</c> and <c>CounterIncludes</c>, in parts. A part is valid until the next one. An
    /// empty part, between two messages, means that the next document needs memory that is not free now.
    /// </summary>
    public IEnumerable<ReadOnlyMemory<byte>> Documents(bool withCounters)
    {
        using var buffer = ResponseBuffer.Rent();
        if (_paths is { Ids.Count: > 0 } paths)
        {
            using var reserved = new Reservation(memory);
            bool isOpen = false;
            foreach (string id in paths.Ids)
            {
                while (!TryWriteDocument(buffer, id, reserved, ref isOpen))
                {
                    if (isOpen)
                    {
                        buffer.Write("}}"u8);
                        isOpen = false;
                        yield return buffer.Written;
                        buffer.Truncate(0);
                        reserved.Release();
                    }

                    yield return ReadOnlyMemory<byte>.Empty;
                }

                if (buffer.IsPartDue)
                {
                    yield return buffer.Written;
                    buffer.Truncate(0);
                    buffer.Trim();
                    reserved.Release();
                }
            }

            if (isOpen)
            {
                buffer.Write("}}"u8);
                yield return buffer.Written;
                buffer.Truncate(0);
            }
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
    public void Dispose()
    {
        _paths?.Dispose();
        _paths = null;
        memory.Release(_heldBytes);
        _heldBytes = 0;
    }

    // Returns false if there is no memory for the document now.
    private bool TryWriteDocument(ResponseBuffer buffer, string id, Reservation reserved, ref bool isOpen)
    {
        using var reader = database.OpenReader();
        byte[] utf8 = Encoding.UTF8.GetBytes(id);
        if (!DocumentId.TryValidate(utf8, out _) || !reader.TryGetDocument(utf8, out var document))
        {
            return true;
        }

        using (document)
        {
            if (!reserved.TryAdd(document.Length))
            {
                return false;
            }

            buffer.Write(isOpen ? ",\""u8 : "{\"Type\":\"Includes\",\"Includes\":{\""u8);
            buffer.Write(JsonEncodedText.Encode(id).EncodedUtf8Bytes);
            buffer.Write("\":"u8);
            document.Write(buffer, _historyId);
            isOpen = true;
            return true;
        }
    }

    /// <summary>Memory of the large documents in the buffer, as stored and as JSON.</summary>
    private sealed class Reservation(MemoryShare memory) : IDisposable
    {
        private long _bytes;

        public bool TryAdd(long length)
        {
            // Not more than the share can ever grant.
            long bytes =
                length <= MemoryShare.BytesWithoutReservation ? 0 : Math.Min(2 * length, memory.LimitBytes / 2);
            if (bytes != 0 && !memory.TryReserveFromCaches(bytes))
            {
                return false;
            }

            _bytes += bytes;
            return true;
        }

        public void Release()
        {
            memory.Release(_bytes);
            _bytes = 0;
        }

        public void Dispose() => Release();
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
