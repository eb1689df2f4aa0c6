using System.Text;
using System.Text.Json;
using Rookery.Documents.Commands;
using Rookery.Documents.Nodes;

namespace Rookery.Crash.Tests;

/// <summary>
/// Makes random patches whose scripts put and delete other documents and change counters, each with its expected
/// outcome.
/// </summary>
internal sealed class RandomPatches(Random random, RandomInputs inputs)
{
    private enum Change
    {
        Put,
        Delete,
        Increment,
        DeleteCounter,
    }

    /// <summary>Returns a patch of a document that may not exist.</summary>
    public Step Next(Model model, ModelDatabase database)
    {
        string id = Id(database);
        long etag = model.LastEtag + 1;
        int? number = random.Next(2) == 0 ? random.Next(1000) : null;
        var writes = Enumerable.Range(0, random.Next(1, 6)).Select(_ => NextWrite(database, id)).ToList();
        string script =
            (number is null ? "" : $"this.n = {number};") + string.Concat(writes.Select(static write => write.Script));
        bool parsed = BatchRequestParser.TryParsePatch(
            Encoding.UTF8.GetBytes($$"""{"Patch":{"Script":{{JsonSerializer.Serialize(script)}} } }"""),
            Encoding.UTF8.GetBytes(id),
            expected: default,
            skipOnMismatch: false,
            database.Number,
            key: default,
            out var batch,
            out var error,
            FormatLevel.Newest
        );
        Assert.True(parsed, error.ToString());
        var after = database;
        string answer = Apply(ref after, id, number, writes, etag);
        bool isRefused = answer.StartsWith("DocumentMissing", StringComparison.Ordinal);
        return Step.Of(model, batch.Command, isRefused ? database : after, etag + writes.Count, answer);
    }

    private static string Apply(ref ModelDatabase after, string id, int? number, List<Write> writes, long etag)
    {
        if (after.Documents.GetValueOrDefault(id.ToLowerInvariant()) is not { } own)
        {
            return "NotFound 0 0-0 ";
        }

        var (status, resultEtag) = ("NotModified", own.Etag);
        string body = number is null ? own.Body : $"\"n\":{number}{own.Body[own.Body.IndexOf(',')..]}";
        if (!string.Equals(body, own.Body, StringComparison.Ordinal) && !ReplacesOwn(after, id, writes))
        {
            after = after.Put(own with { Body = body, Etag = etag });
            (status, resultEtag) = ("Patched", etag);
        }

        long next = etag;
        foreach (var write in writes)
        {
            var document = after.Documents.GetValueOrDefault(write.Id.ToLowerInvariant());
            if (document is null && write.Change == Change.Delete)
            {
                continue; // takes no etag
            }

            if (document is null && write.Change != Change.Put)
            {
                return "DocumentMissing   at 0";
            }

            next++;
            string names = after.NamesOfCounters(write.Id);
            after = Apply(after, write, document, next);
            bool isOfCounter = write.Change is Change.Increment or Change.DeleteCounter;
            bool isNew =
                !isOfCounter || !string.Equals(names, after.NamesOfCounters(write.Id), StringComparison.Ordinal);
            if (isOfCounter && isNew)
            {
                after = after.Put(document! with { Etag = next });
            }

            if (IsSame(write.Id, id))
            {
                status = "Patched";
                resultEtag =
                    write.Change == Change.Delete ? 0
                    : isNew ? next
                    : resultEtag;
            }
        }

        return $"{status} {resultEtag} 0-0 ";
    }

    private static ModelDatabase Apply(ModelDatabase database, Write write, ModelDocument? document, long etag)
    {
        switch (write.Change)
        {
            case Change.Put:
                return database.Put(write.Id, "Puts", $"\"n\":{write.Number},\"p\":\"x\"", expiresAtTicks: 0, etag);
            case Change.Delete:
                return database.Delete(write.Id, etag);
        }

        string key = ModelDatabase.CounterKey(document!.Id, write.Counter);
        bool exists = database.Counters.TryGetValue(key, out var counter);
        return database with
        {
            Counters =
                write.Change == Change.DeleteCounter
                    ? database.Counters.Remove(key)
                    : database.Counters.SetItem(
                        key,
                        (exists ? counter.Name : write.Counter, counter.Value + write.Number)
                    ),
        };
    }

    /// <summary>Whether the script puts or deletes its own document. Then its other changes of it have no
    /// effect.</summary>
    private static bool ReplacesOwn(ModelDatabase database, string id, List<Write> writes) =>
        database.Documents.ContainsKey(id.ToLowerInvariant())
        && writes.Exists(write => IsSame(write.Id, id) && write.Change is Change.Put or Change.Delete);

    private static bool IsSame(string id, string other) => string.Equals(id, other, StringComparison.OrdinalIgnoreCase);

    private string Id(ModelDatabase database)
    {
        string id = inputs.Id(database);
        return id.StartsWith("raven/hilo/", StringComparison.OrdinalIgnoreCase) ? "users/1" : id;
    }

    private Write NextWrite(ModelDatabase database, string own)
    {
        // Mostly documents that exist, so that few scripts are refused for a counter.
        string id =
            random.Next(4) == 0 ? own
            : random.Next(3) > 0 && database.Documents.Count > 0
                ? database.Documents.Values.ElementAt(random.Next(database.Documents.Count)).Id
            : Id(database);
        id = id.StartsWith("raven/hilo/", StringComparison.OrdinalIgnoreCase) ? own : id;
        string counter = $"likes {random.Next(6)}";
        counter = random.Next(4) == 0 ? counter.ToUpperInvariant() : counter;
        int number = random.Next(-5, 100);
        return random.Next(5) switch
        {
            0 or 1 => new Write(
                Change.Put,
                id,
                counter,
                number,
                $"put('{id}', {{ n: {number}, p: 'x', '@metadata': {{ '@collection': 'Puts' }} }});"
            ),
            2 => new Write(Change.Delete, id, counter, number, $"del('{id}');"),
            3 => new Write(Change.Increment, id, counter, number, $"incrementCounter('{id}', '{counter}', {number});"),
            _ => new Write(Change.DeleteCounter, id, counter, number, $"deleteCounter('{id}', '{counter}');"),
        };
    }

    private sealed record Write(Change Change, string Id, string Counter, int Number, string Script);
}
