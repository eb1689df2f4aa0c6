using System.Text;
using Microsoft.AspNetCore.Http;
using Rookery.Documents.Databases;
using Rookery.Documents.Ids;
using Rookery.Documents.Stored;
using Rookery.Json;
using Rookery.Queries.Answering;

namespace Rookery.Server.Raven.Counters;

/// <summary>Writes the counters that a load includes.</summary>
internal static class CounterIncludes
{
    private const string All = "@all_counters";

    // As for documents: a longer answer is sent in parts and without an ETag.
    private const int WholeAnswerBytes = 4 << 20;

    /// <summary>Reads the names of the counters to include: null for all; empty for none.</summary>
    public static List<byte[]>? ReadNames(HttpContext http)
    {
        var names = new List<byte[]>();
        foreach (var parameter in new QueryParameters(http))
        {
            if (!parameter.Is("counter"))
            {
                continue;
            }

            string name = parameter.Text();
            if (string.Equals(name, All, StringComparison.Ordinal))
            {
                return null;
            }

            names.Add(Encoding.UTF8.GetBytes(name));
        }

        return names;
    }

    /// <summary>
    /// Writes <c>,"CounterIncludes":{ID:[DETAIL or null,…],…}</c> for those of the documents that exist.
    /// </summary>
    /// <param name="answer">The response.</param>
    /// <param name="reader">The snapshot.</param>
    /// <param name="ids">Ids of the documents, in any casing.</param>
    /// <param name="names">The names: see <see cref="ReadNames"/>.</param>
    /// <param name="slices">Ends the work when the client leaves.</param>
    /// <param name="tag">The response's ETag so far.</param>
    /// <returns>The ETag with the counters.</returns>
    public static async Task<EntityTag> WriteAsync(
        DocumentResponse answer,
        AnswerReader reader,
        IEnumerable<string> ids,
        List<byte[]>? names,
        RequestTimeSlices slices,
        EntityTag tag
    )
    {
        answer.Write(",\"CounterIncludes\":{"u8);
        bool isFirst = true;
        Func<DatabaseReader> read = () => reader.Current;
        var written = new HashSet<string>(StringComparer.Ordinal);
        foreach (string id in ids)
        {
            await slices.YieldWhenDueAsync();
            if (!written.Add(LowerId(id)) || Find(reader.Current, id, withNames: names is null) is not { } document)
            {
                continue;
            }

            answer.Write(isFirst ? ""u8 : ","u8);
            isFirst = false;
            tag = await WriteDocumentAsync(answer, read, reader.Pause, document, names, slices, tag);
            await answer.SendIfLongerAsync(WholeAnswerBytes, reader.Pause);
        }

        answer.Write("}"u8);
        return tag;
    }

    /// <summary>Writes <c>ID:[DETAIL or null,…]</c> of one document.</summary>
    /// <param name="answer">The response.</param>
    /// <param name="read">Returns the snapshot's reader, which is valid until the next pause.</param>
    /// <param name="pause">Called before a wait for memory; see <see cref="AnswerReader.Pause"/>.</param>
    /// <param name="document">The document.</param>
    /// <param name="names">The names; null for all that exist.</param>
    /// <param name="slices">Ends the work when the client leaves.</param>
    /// <param name="tag">The response's ETag so far.</param>
    /// <returns>The ETag with the counters.</returns>
    public static async Task<EntityTag> WriteDocumentAsync(
        DocumentResponse answer,
        Func<DatabaseReader> read,
        Action pause,
        FoundDocument document,
        IReadOnlyList<byte[]>? names,
        RequestTimeSlices slices,
        EntityTag tag
    )
    {
        JsonText.WriteString(answer.Buffer, document.Id);
        answer.Write(":["u8);
        bool isFirst = true;
        foreach (byte[] name in names ?? document.Names)
        {
            await slices.YieldWhenDueAsync();
            long neededBytes = CounterJson.DetailBytes + (6L * (document.Id.Length + name.Length));
            while (!answer.TryReserve(neededBytes))
            {
                pause();
                await answer.WaitForMemoryAsync(neededBytes);
            }

            long? value = read().ReadCounter(document.Id, name, out long etag);
            tag.Add(etag);
            if (names is null && value is null)
            {
                continue; // deleted since the names were read
            }

            answer.Write(isFirst ? ""u8 : ","u8);
            isFirst = false;
            CounterJson.WriteDetail(answer.Buffer, document.Id, name, value);
        }

        answer.Write("]"u8);
        return tag;
    }

    // Lower-cases as the database does: two ids that .NET considers equal can belong to two documents.
    public static string LowerId(string id)
    {
        Span<byte> lower = stackalloc byte[DocumentId.MaxBytes];
        byte[] bytes = Encoding.UTF8.GetBytes(id);
        return DocumentId.TryValidate(bytes, out _)
            ? Encoding.UTF8.GetString(lower[..DocumentId.ToLower(bytes, lower)])
            : id;
    }

    /// <summary>Finds a document; returns its id as stored and, if wanted, the names of its counters.</summary>
    public static FoundDocument? Find(in DatabaseReader reader, string id, bool withNames)
    {
        if (id.Length == 0 || !reader.TryGetDocument(Encoding.UTF8.GetBytes(id), out var document))
        {
            return null;
        }

        using (document)
        {
            var head = document.Head;
            var list = new List<byte[]>();
            var names = new CounterNames(withNames ? head.CounterNames : default);
            while (names.MoveNext())
            {
                list.Add(names.Name.ToArray());
            }

            return new FoundDocument(head.Id.ToArray(), list);
        }
    }

    /// <summary>A document and its counters.</summary>
    /// <param name="Id">Its id as stored.</param>
    /// <param name="Names">The names of its counters, ordered.</param>
    internal sealed record FoundDocument(byte[] Id, List<byte[]> Names);
}
