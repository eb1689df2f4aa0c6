using System.Text;
using Rookery.Documents.Databases;
using Rookery.Queries.Answering;

namespace Rookery.Server.Raven.CompareExchange;

/// <summary>Writes the compare-exchange values that a response includes.</summary>
internal static class CompareExchangeIncludes
{
    // As for documents: a longer answer is sent in parts and without an ETag.
    private const int WholeAnswerBytes = 4 << 20;

    /// <summary>
    /// Writes <c>,"CompareExchangeValueIncludes":{KEY:ITEM,…}</c>. A missing value has an item too, so that a session
    /// need not ask for it again.
    /// </summary>
    /// <param name="answer">The response.</param>
    /// <param name="reader">The snapshot.</param>
    /// <param name="keys">The keys, in any casing.</param>
    /// <param name="slices">Ends the work when the client leaves.</param>
    /// <param name="tag">The response's ETag so far.</param>
    /// <returns>The ETag with the values.</returns>
    public static async Task<EntityTag> WriteAsync(
        DocumentResponse answer,
        AnswerReader reader,
        IEnumerable<string> keys,
        RequestTimeSlices slices,
        EntityTag tag
    )
    {
        answer.Write(",\"CompareExchangeValueIncludes\":{"u8);
        bool isFirst = true;
        foreach (string key in keys)
        {
            await slices.YieldWhenDueAsync();
            byte[] keyBytes = Encoding.UTF8.GetBytes(key);
            while (!TryWrite(answer, reader.Current, reader.Database, keyBytes, isFirst, ref tag, out long neededBytes))
            {
                reader.Pause();
                await answer.WaitForMemoryAsync(neededBytes);
            }

            isFirst = false;
            await answer.SendIfLongerAsync(WholeAnswerBytes, reader.Pause);
        }

        answer.Write("}"u8);
        return tag;
    }

    /// <summary>Writes the same member into the answer of a query. The values do not contribute to the answer's
    /// ETag.</summary>
    public static async Task WriteAsync(
        DocumentResponse answer,
        IQueryResults results,
        Database database,
        IEnumerable<string> keys,
        RequestTimeSlices slices
    )
    {
        answer.Write(",\"CompareExchangeValueIncludes\":{"u8);
        bool isFirst = true;
        var tag = new EntityTag(database);
        foreach (string key in keys)
        {
            await slices.YieldWhenDueAsync();
            byte[] keyBytes = Encoding.UTF8.GetBytes(key);
            while (!TryWrite(answer, results.Reader, database, keyBytes, isFirst, ref tag, out long neededBytes))
            {
                results.Pause();
                await answer.WaitForMemoryAsync(neededBytes);
            }

            isFirst = false;
            await answer.SendWhenDueAsync(results.Pause);
        }

        answer.Write("}"u8);
    }

    private static bool TryWrite(
        DocumentResponse answer,
        in DatabaseReader reader,
        Database database,
        byte[] key,
        bool isFirst,
        ref EntityTag tag,
        out long neededBytes
    )
    {
        bool isFound = reader.TryGetCompareExchange(key, out var value);
        using (value)
        {
            neededBytes = value.Length;
            if (!answer.TryReserve(neededBytes))
            {
                return false;
            }

            answer.Write(isFirst ? ""u8 : ","u8);
            Rookery.Json.JsonText.WriteString(answer.Buffer, key);
            answer.Write(":"u8);
            tag.Add(value.Etag);
            if (isFound)
            {
                CompareExchangeJson.WriteItem(answer.Buffer, value.View, value.Etag, database);
            }
            else
            {
                CompareExchangeJson.WriteMissing(answer.Buffer, key);
            }

            return true;
        }
    }
}
