using System.Text;
using Microsoft.AspNetCore.Http;
using Rookery.Documents.Databases;
using Rookery.Documents.Ids;
using Rookery.Documents.Nodes;
using Rookery.Queries.Answering;

namespace Rookery.Server.Raven.CompareExchange;

/// <summary>
/// GET cmpxchg: compare-exchange values by key, or all whose key has a prefix. A single missing value is left out:
/// clients return null for an empty list, but undefined for a 404. Of several keys, each missing value has an item,
/// from which sessions without tracking take their result.
/// </summary>
internal sealed class GetCompareExchange(ServerContext context)
{
    public async Task HandleAsync(HttpContext http, Database database)
    {
        var keys = ReadKeys(http);
        if (keys.Count > 0)
        {
            RefuseListParameters(http);
        }

        if (!IsLocal(http))
        {
            await CompareExchangeExpiry.EndDueValuesAsync(database, context.Node.Consensus);
        }

        using var answer = new DocumentResponse(http, context.LargeRequests);
        using (var reader = new AnswerReader(database, answer))
        {
            answer.Write("{\"Results\":["u8);
            if (keys.Count > 0)
            {
                await WriteKeysAsync(http, answer, reader, keys);
            }
            else
            {
                await WriteListAsync(http, answer, reader, new QueryParameters(http).Text("startsWith") ?? "");
            }

            answer.Write("]}"u8);
        }

        // The snapshot is disposed before this, so that a slow client does not hold it while it reads the last part.
        await answer.SendAsync();
    }

    /// <summary>
    /// Whether the request reads what this node has applied, without waiting for other members. A request inside a
    /// multi_get reads as the multi_get does.
    /// </summary>
    public static bool IsLocal(HttpContext http) =>
        new QueryParameters(http.Features.Get<MultiGetPart>()?.Outer ?? http).TryGetEscaped(
            "consistency",
            out var consistency
        ) && !consistency.IsEmpty;

    private async Task WriteKeysAsync(HttpContext http, DocumentResponse answer, AnswerReader reader, List<byte[]> keys)
    {
        var slices = new RequestTimeSlices(context, http);
        int writtenCount = 0;
        foreach (byte[] key in keys)
        {
            await slices.YieldWhenDueAsync();
            while (!TryWrite(answer, reader, key, keys.Count > 1, ref writtenCount, out long neededBytes))
            {
                reader.Pause();
                await answer.WaitForMemoryAsync(neededBytes);
            }

            await answer.SendWhenDueAsync(reader.Pause);
        }
    }

    /// <summary>
    /// Writes a value. Writes an item without a value, or nothing, if the value is missing.
    /// </summary>
    /// <returns>False if the value needs more room than the answer has.</returns>
    private static bool TryWrite(
        DocumentResponse answer,
        AnswerReader reader,
        byte[] key,
        bool writesMissing,
        ref int writtenCount,
        out long neededBytes
    )
    {
        neededBytes = 0;
        if (!reader.Current.TryGetCompareExchange(key, out var value))
        {
            if (writesMissing)
            {
                answer.Write(writtenCount == 0 ? ""u8 : ","u8);
                CompareExchangeJson.WriteMissing(answer.Buffer, key);
                writtenCount++;
            }

            return true;
        }

        using (value)
        {
            neededBytes = value.Length;
            if (!answer.TryReserve(neededBytes))
            {
                return false;
            }

            answer.Write(writtenCount == 0 ? ""u8 : ","u8);
            CompareExchangeJson.WriteItem(answer.Buffer, value.View, value.Etag, reader.Database);
            writtenCount++;
            return true;
        }
    }

    private async Task WriteListAsync(HttpContext http, DocumentResponse answer, AnswerReader reader, string prefix)
    {
        byte[] prefixBytes = Encoding.UTF8.GetBytes(prefix);
        if (prefixBytes.Length > CompareExchangeKey.MaxBytes)
        {
            throw RefusedException.BadRequest(
                $"'startsWith' has at most {CompareExchangeKey.MaxBytes} bytes of UTF-8, as keys have."
            );
        }

        long toSkip = new QueryParameters(http).Number("start", defaultValue: 0);
        long pageSize = new QueryParameters(http).Number("pageSize", defaultValue: 0);
        long remaining = pageSize == 0 ? long.MaxValue : pageSize; // clients send 0 for a page without limit
        var slices = new RequestTimeSlices(context, http);

        // The time of expiry is read once, not for each value: the more writes have followed the snapshot, the longer
        // it takes to find the snapshot's version of the row with the time.
        long expiryTicks = reader.Current.ReadExpiryTicks();
        using var cursor = reader.Current.SeekCompareExchange(prefixBytes);
        int writtenCount = 0;
        while (remaining > 0 && cursor.MoveNext())
        {
            slices.CountRead();
            await slices.YieldWhenDueAsync();
            if (Expiry.HasPassed(cursor.Head.ExpiresAtTicks, expiryTicks))
            {
                continue;
            }

            if (toSkip > 0)
            {
                toSkip--;
                continue;
            }

            if (!await answer.TryReserveAsync(cursor.Length, StepBack))
            {
                continue;
            }

            answer.Write(writtenCount == 0 ? ""u8 : ","u8);
            CompareExchangeJson.WriteItem(answer.Buffer, cursor.View, cursor.Etag, reader.Database);
            writtenCount++;
            remaining--;
            await answer.SendWhenDueAsync(Pause);
        }

        void StepBack()
        {
            cursor.StepBack();
            reader.Pause();
        }

        void Pause()
        {
            cursor.Pause();
            reader.Pause();
        }
    }

    private static void RefuseListParameters(HttpContext http)
    {
        var parameters = new QueryParameters(http);
        foreach (string name in (ReadOnlySpan<string>)["startsWith", "start", "pageSize"])
        {
            if (parameters.TryGetEscaped(name, out _))
            {
                throw RefusedException.BadRequest(
                    $"The parameter '{name}' of GET cmpxchg has no meaning together with 'key'. Send one of the two."
                );
            }
        }
    }

    private static List<byte[]> ReadKeys(HttpContext http)
    {
        var keys = new List<byte[]>();
        foreach (var parameter in new QueryParameters(http))
        {
            if (parameter.Is("key"))
            {
                keys.Add(CompareExchangeKeyParameter.Check(parameter.Text()));
            }
        }

        return keys;
    }
}
