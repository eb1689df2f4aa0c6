using System.Text;
using Rookery.Documents.Commands;
using Rookery.Simulation;

namespace Rookery.Crash.Tests;

/// <summary>Makes random commands with compare-exchange values, each with its expected outcome.</summary>
internal sealed class RandomExchanges(Random random, RandomInputs inputs, SimulatedTimeProvider time)
{
    /// <summary>Returns a put or delete of one compare-exchange value. Its expected index may be wrong.</summary>
    public Step Exchange(Model model, ModelDatabase database)
    {
        long etag = model.LastEtag + 1;
        long now = time.GetUtcNow().UtcTicks;
        string key = inputs.Key();
        long index = database.IndexOf(key, now);
        long expected = inputs.Index(index);
        if (random.Next(3) == 0)
        {
            var delete = CommandEncoder.DeleteCompareExchange(
                database.Number,
                Bytes(key),
                expected,
                requestKey: default
            );
            return index == 0 ? Step.Of(model, delete, database, etag, $"NotFound {etag} 0-0 ")
                : index != expected ? Step.Of(model, delete, database, etag, $"Mismatched {index} 0-0 ")
                : Step.Of(model, delete, WithoutValue(database, key), etag, $"Deleted {etag} 0-0 ");
        }

        var (body, expires) = inputs.Value(now);
        var put = CommandEncoder.PutCompareExchange(
            database.Number,
            Bytes(key),
            expected,
            RandomInputs.Parsed(body, expires),
            requestKey: default
        );
        return index == expected
            ? Step.Of(model, put, database.PutValue(key, body, expires, etag), etag, $"Stored {etag} 0-0 ")
            : Step.Of(model, put, database, etag, $"Mismatched {(index == 0 ? etag : index)} 0-0 ");
    }

    /// <summary>
    /// Returns a cluster-wide transaction, which stores all of its documents and values or none. Expectations are
    /// compared with the state before the transaction.
    /// </summary>
    public Step ClusterTransaction(Model model, ModelDatabase before)
    {
        using var writer = new BatchWriter(CommandKind.ClusterTransaction, before.Number);
        bool hasGuards = random.Next(4) > 0;
        if (!hasGuards)
        {
            writer.DisableGuards();
        }

        var after = before;
        long etag = model.LastEtag;
        long now = time.GetUtcNow().UtcTicks;
        var answer = new StringBuilder();
        int refused = -1;
        int count = random.Next(1, 5);
        for (int i = 0; i < count; i++)
        {
            etag++;
            if (random.Next(2) == 0)
            {
                string key = inputs.Key();
                long index = before.IndexOf(key, now);
                long expected = inputs.Index(index);
                refused = refused < 0 && index != expected ? i : refused;
                if (random.Next(3) == 0)
                {
                    writer.DeleteCompareExchange(Bytes(key), expected);
                    bool exists = after.Values.ContainsKey(key.ToLowerInvariant());
                    answer.Append(exists ? $"Deleted {etag} 0-0 " : $"NotFound {etag} 0-0 ");
                    after = WithoutValue(after, key);
                    continue;
                }

                var (body, expires) = inputs.Value(now);
                writer.PutCompareExchange(Bytes(key), expected, RandomInputs.Parsed(body, expires));
                answer.Append($"Stored {etag} 0-0 ");
                after = after.PutValue(key, body, expires, etag);
                continue;
            }

            string id = inputs.Id(before);
            var previous = before.Documents.GetValueOrDefault(id.ToLowerInvariant());
            string? read = inputs.Expectation(before, previous);
            string actual = previous is null ? "" : before.ChangeVectorOf(previous.Etag);
            bool conflicts = read is { Length: > 0 }
                ? !string.Equals(read, actual, StringComparison.Ordinal)
                : previous is not null
                    && (read is "" || before.Values.ContainsKey("rvn-atomic/" + id.ToLowerInvariant()));
            refused = refused < 0 && hasGuards && conflicts ? i : refused;
            var expectation = read is null
                ? ExpectedChangeVector.None
                : ExpectedChangeVector.MustEqual(Encoding.UTF8.GetBytes(read));
            if (random.Next(4) == 0)
            {
                writer.Delete(Bytes(id), expectation);
                bool exists = after.Documents.ContainsKey(id.ToLowerInvariant());
                answer.Append(exists ? $"Deleted {etag} 0-0 " : "NotFound 0 0-0 ");
                after = after.Delete(id, etag);
                continue;
            }

            after = inputs.Put(writer, after, id, expectation, etag);
            answer.Append($"Stored {etag} 0-0 ");
            if (hasGuards)
            {
                after = after.PutValue($"rvn-atomic/{id}", $"\"Object\":{{\"Id\":\"{id}\"}}", expiresAtTicks: 0, etag);
            }
        }

        return Step.Of(
            model,
            writer.Complete(),
            refused < 0 ? after : before,
            etag,
            refused < 0 ? answer.ToString() : $"ClusterTransactionConflict   at {refused}"
        );
    }

    /// <summary>Removes expired values; one that changed since, or has not expired, stays.</summary>
    public Step ExpireValues(Model model, ModelDatabase database)
    {
        long now = time.GetUtcNow().UtcTicks;
        using var writer = new ExpiryWriter(database.Number, CommandKind.ExpireCompareExchange);
        long etag = model.LastEtag;
        int deleted = 0;
        foreach (var value in database.Values.Values.Where(value => value.ExpiresAtTicks != 0).Take(20))
        {
            bool changedSince = random.Next(10) == 0;
            writer.Add(Bytes(value.Key.ToLowerInvariant()), changedSince ? value.Index - 1 : value.Index);
            etag++;
            if (!changedSince && value.ExpiresAtTicks <= now)
            {
                database = WithoutValue(database, value.Key);
                deleted++;
            }
        }

        return writer.Count == 0
            ? Exchange(model, database)
            : Step.Of(model, writer.Complete(), database, etag, $"Deleted 0 {deleted}-0 ");
    }

    private static ModelDatabase WithoutValue(ModelDatabase database, string key) =>
        database with
        {
            Values = database.Values.Remove(key.ToLowerInvariant()),
        };

    private static byte[] Bytes(string text) => Encoding.UTF8.GetBytes(text);
}
