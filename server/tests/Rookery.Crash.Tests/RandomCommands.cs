using System.Buffers;
using System.Globalization;
using System.Text;
using Rookery.Documents.Commands;
using Rookery.Documents.Nodes;
using Rookery.Documents.Records;
using Rookery.Simulation;

namespace Rookery.Crash.Tests;

/// <summary>Makes random commands from a seed, each with its expected outcome.</summary>
internal sealed class RandomCommands
{
    private static readonly string[] Names = ["db", "Other", "third"];
    private readonly SimulatedTimeProvider _time;
    private readonly Random _random;
    private readonly RandomInputs _inputs;
    private readonly RandomExchanges _exchanges;
    private readonly RandomSchedules _schedules;
    private readonly RandomSubscriptions _subscriptions;
    private readonly RandomPatches _patches;
    private int _keys;

    public RandomCommands(int seed, SimulatedTimeProvider time, Model start)
    {
        _time = time;
        _random = new Random(seed);
        _inputs = new RandomInputs(_random, time);
        _exchanges = new RandomExchanges(_random, _inputs, time);
        _schedules = new RandomSchedules(_random, time);
        _subscriptions = new RandomSubscriptions(_random);
        _patches = new RandomPatches(_random, _inputs);
        _keys = (int)start.Databases.Values.SelectMany(database => database.Keys.Keys).DefaultIfEmpty().Max();
        Model = start;
    }

    /// <summary>The expected state after all commands so far.</summary>
    public Model Model { get; private set; }

    /// <summary>
    /// Whether compare-exchange values, cluster-wide transactions, configurations, scheduled documents, subscriptions
    /// and patches of other documents are among the commands. Without them, a seed gives the same work as before.
    /// </summary>
    public bool WithValues
    {
        get;
        set => field = _inputs.WithSchedules = value;
    }

    /// <summary>Returns one more command with its expected effects.</summary>
    public Step Next()
    {
        if (_random.Next(10) == 0)
        {
            _time.Advance(TimeSpan.FromSeconds(_random.Next(100)));
        }

        var database = Model
            .Databases.Values.Skip(Model.Databases.Count == 0 ? 0 : _random.Next(Model.Databases.Count))
            .FirstOrDefault();
        int dice = _random.Next(100);
        var step = (database, dice) switch
        {
            (null, _) or (_, < 3) => Create(),
            (_, < 4) => DeleteDatabase(database),
            (_, < 9) => Records(),
            (_, < 23) when WithValues => _exchanges.Exchange(Model, database),
            (_, < 37) when WithValues => _exchanges.ClusterTransaction(Model, database),
            (_, < 43) when WithValues => _schedules.Next(Model, database),
            (_, < 48) when WithValues => _subscriptions.Next(Model, database),
            (_, < 53) when WithValues => _patches.Next(Model, database),
            (_, < 60) => Batch(database),
            (_, < 68) => BulkPut(database),
            (_, < 74) => Merge(database),
            (_, < 80) => Hilo(database),
            (_, < 86) => Identity(database),
            (_, < 92) => WithKey(database),
            (_, < 94) when WithValues => _exchanges.ExpireValues(Model, database),
            (_, < 98) => Expire(database),
            _ => Horizon(database),
        };
        Model = step.After;
        return step;
    }

    private Step Create()
    {
        string name = Names[_random.Next(Names.Length)];
        string history = Convert.ToBase64String(_inputs.Bytes(17))[..HistoryId.Length];
        long etag = Model.LastEtag + 1;
        var command = CommandEncoder.CreateDatabase(name, history);
        if (Model.Find(name) is not null)
        {
            return new Step(command, Model with { LastEtag = etag }, "DatabaseExists   at -1");
        }

        uint number = Model.LastDatabaseNumber + 1;
        return new Step(
            command,
            Model with
            {
                Databases = Model.Databases.Add(number, new ModelDatabase(number, name, history)),
                LastDatabaseNumber = number,
                LastEtag = etag,
            },
            $"Configured {etag} 0-0 "
        );
    }

    private Step DeleteDatabase(ModelDatabase database)
    {
        long etag = Model.LastEtag + 1;
        return new Step(
            CommandEncoder.DeleteDatabases([database.Name.ToUpperInvariant()]),
            Model with
            {
                Databases = Model.Databases.Remove(database.Number),
                LastEtag = etag,
            },
            $"Deleted {etag} 0-0 "
        );
    }

    /// <summary>Stores and deletes some cluster records, all or none. An expected version may be wrong.</summary>
    private Step Records()
    {
        using var writer = new ClusterRecordWriter();
        var after = Model.Records;
        long etag = Model.LastEtag;
        var answer = new StringBuilder();
        string? refusal = null;
        int count = _random.Next(1, 4);
        for (int i = 0; i < count; i++)
        {
            etag++;
            string key = $"member/{_random.Next(6)}";
            long version = after.TryGetValue(key, out var previous) ? previous.Version : ClusterRecord.Absent;
            long? expected = _random.Next(3) switch
            {
                0 => null,
                1 => version,
                _ => _random.Next(4) == 0 ? _random.Next(100) : version,
            };
            if (refusal is null && expected is { } wanted && wanted != version)
            {
                refusal = $"ConcurrencyConflict {wanted} {version} at {i}";
            }

            if (_random.Next(4) == 0)
            {
                writer.Delete(key, expected);
                answer.Append(version == ClusterRecord.Absent ? "NotFound 0 0-0 " : $"Deleted {etag} 0-0 ");
                after = after.Remove(key);
                continue;
            }

            string value = _inputs.Padding(_random.Next(20) == 0 ? ClusterRecord.MaxValueBytes : _random.Next(200));
            writer.Set(key, Encoding.ASCII.GetBytes(value), expected);
            answer.Append($"Configured {etag} 0-0 ");
            after = after.SetItem(key, (value, etag));
        }

        return new Step(
            writer.Complete(),
            Model with
            {
                Records = refusal is null ? after : Model.Records,
                LastEtag = etag,
            },
            refusal ?? answer.ToString()
        );
    }

    private Step Batch(ModelDatabase before, IdempotencyKey key = default)
    {
        using var writer = new BatchWriter(CommandKind.Batch, before.Number, key);
        var after = before;
        long etag = Model.LastEtag;
        var answer = new StringBuilder();
        string? refusal = null;
        int count = _random.Next(1, 5);
        for (int rounds = 0; rounds < count; rounds++)
        {
            if (WithValues && _random.Next(3) == 0)
            {
                after = Counters(writer, after, ref etag, answer, ref refusal);
                continue;
            }

            int i = writer.Count;
            etag++;
            string id = _inputs.Id(before);
            var previous = after.Documents.GetValueOrDefault(id.ToLowerInvariant());
            string? expected = _inputs.Expectation(before, previous);
            string actual = previous is null ? "" : after.ChangeVectorOf(previous.Etag);
            if (refusal is null && expected is not null && !string.Equals(expected, actual, StringComparison.Ordinal))
            {
                refusal = $"ConcurrencyConflict {expected} {actual} at {i}";
            }

            var expectation = expected is null
                ? ExpectedChangeVector.None
                : ExpectedChangeVector.MustEqual(Encoding.UTF8.GetBytes(expected));
            if (_random.Next(4) == 0)
            {
                writer.Delete(Encoding.UTF8.GetBytes(id), expectation);
                answer.Append(previous is null ? "NotFound 0 0-0 " : $"Deleted {etag} 0-0 ");
                after = after.Delete(id, etag);
            }
            else
            {
                after = _inputs.Put(writer, after, id, expectation, etag);
                answer.Append($"Stored {etag} 0-0 ");
            }
        }

        return Step.Of(Model, writer.Complete(), refusal is null ? after : before, etag, refusal ?? answer.ToString());
    }

    /// <summary>Adds some operations on counters of one document, which may not exist.</summary>
    private ModelDatabase Counters(
        BatchWriter writer,
        ModelDatabase database,
        ref long etag,
        StringBuilder answer,
        ref string? refusal
    )
    {
        string id = _inputs.Id(database);
        id = id.StartsWith("raven/hilo/", StringComparison.OrdinalIgnoreCase) ? "users/1" : id; // these have none
        var document = database.Documents.GetValueOrDefault(id.ToLowerInvariant());
        var counters = new CounterOperationList(FormatLevel.Newest);
        int first = writer.Count;
        int count = _random.Next(1, 5);
        string namesBefore = database.NamesOfCounters(id);
        var results = new List<string>();
        for (int i = 0; i < count; i++)
        {
            etag++;
            string name = $"likes {_random.Next(6)}{(_random.Next(8) == 0 ? "ä" : "")}";
            name = _random.Next(4) == 0 ? name.ToUpperInvariant() : name;
            string key = ModelDatabase.CounterKey(id, name);
            bool exists = database.Counters.TryGetValue(key, out var counter);
            int dice = _random.Next(10);
            if (dice == 0)
            {
                counters.Add(OperationKind.CounterGet, Encoding.UTF8.GetBytes(name), 0);
                results.Add(exists ? $"Numbered {{0}} {counter.Value}-0 " : "NotFound {0} 0-0 ");
                continue;
            }

            refusal ??= document is null ? $"DocumentMissing   at {first + i}" : null;
            if (dice <= 2)
            {
                counters.Add(OperationKind.CounterDelete, Encoding.UTF8.GetBytes(name), 0);
                results.Add(exists ? "Deleted {0} 0-0 " : "NotFound {0} 0-0 ");
                database = database with { Counters = database.Counters.Remove(key) };
                continue;
            }

            long delta = _random.Next(-5, 100);
            counters.Add(OperationKind.CounterIncrement, Encoding.UTF8.GetBytes(name), delta);
            results.Add($"Numbered {{0}} {counter.Value + delta}-0 ");
            database = database with
            {
                Counters = database.Counters.SetItem(key, (exists ? counter.Name : name, counter.Value + delta)),
            };
        }

        writer.Counters(Encoding.UTF8.GetBytes(id), counters);
        counters.Release();
        long last = document?.Etag ?? 0;
        foreach (string result in results.SkipLast(1))
        {
            answer.AppendFormat(CultureInfo.InvariantCulture, result, last);
        }

        bool changesNames = !string.Equals(database.NamesOfCounters(id), namesBefore, StringComparison.Ordinal);
        string ofLast = changesNames && document is not null ? results[^1].Replace("-0 ", "-1 ") : results[^1];
        last = changesNames && document is not null ? etag : last;
        answer.AppendFormat(CultureInfo.InvariantCulture, ofLast, last);
        return changesNames && document is not null ? database.Put(document with { Etag = etag }) : database;
    }

    private Step BulkPut(ModelDatabase database)
    {
        using var writer = new BatchWriter(CommandKind.BulkPut, database.Number);
        long etag = Model.LastEtag;
        int count = _random.Next(1, 30);
        for (int i = 0; i < count; i++)
        {
            string id = _random.Next(8) == 0 ? "seq|" : _inputs.Id(database);
            etag++;
            if (id.EndsWith('|'))
            {
                long next = database.Identities.GetValueOrDefault(id);
                do
                {
                    next++;
                    database = database with { Identities = database.Identities.SetItem(id, next) };
                } while (database.Documents.ContainsKey($"seq/{next}"));
                database = _inputs.Put(writer, database, id, default, etag, $"seq/{next}");
                continue;
            }

            database = _inputs.Put(writer, database, id, default, etag);
        }

        return Step.Of(Model, writer.Complete(), database, etag, $"Stored {etag} {count}-0 ");
    }

    private Step Merge(ModelDatabase database)
    {
        string id = _inputs.Id(database);
        long etag = Model.LastEtag + 1;
        int number = _random.Next(1000);
        bool parsed = BatchRequestParser.TryParseMergePatch(
            Encoding.UTF8.GetBytes($"{{\"n\":{number}}}"),
            Encoding.UTF8.GetBytes(id),
            default,
            skipOnMismatch: false,
            createIfMissing: false,
            returnsDocument: true,
            database.Number,
            default,
            out var batch,
            out var error
        );
        Assert.True(parsed, error.ToString());
        var previous = database.Documents.GetValueOrDefault(id.ToLowerInvariant());
        if (previous is null)
        {
            return Step.Of(Model, batch.Command, database, etag, "NotFound 0 0-0 ");
        }

        if (previous.Body.StartsWith("\"Max\"", StringComparison.Ordinal))
        {
            return Step.Of(
                Model,
                batch.Command,
                database.Put(previous with { Body = $"{previous.Body},\"n\":{number}", Etag = etag }),
                etag,
                $"Patched {etag} 0-0 "
            );
        }

        string body = $"\"n\":{number}{previous.Body[previous.Body.IndexOf(',', StringComparison.Ordinal)..]}";
        return string.Equals(body, previous.Body, StringComparison.Ordinal)
            ? Step.Of(Model, batch.Command, database, etag, $"NotModified {previous.Etag} 0-0 ")
            : Step.Of(
                Model,
                batch.Command,
                database.Put(previous with { Body = body, Etag = etag }),
                etag,
                $"Patched {etag} 0-0 "
            );
    }

    private Step Hilo(ModelDatabase database)
    {
        long etag = Model.LastEtag + 1;
        database.Documents.TryGetValue("raven/hilo/users", out var document);
        long max = document is null ? 0 : MaxOf(document);
        if (document is not null && _random.Next(3) == 0)
        {
            long end = max - _random.Next(2);
            long last = Math.Max(0, end - _random.Next(5));
            return max == end
                ? Step.Of(
                    Model,
                    CommandEncoder.HiloReturn(database.Number, "users"u8, last, end, default),
                    database.PutHilo(last, etag),
                    etag,
                    $"Numbered {etag} 0-{last} "
                )
                : Step.Of(
                    Model,
                    CommandEncoder.HiloReturn(database.Number, "users"u8, last, end, default),
                    database,
                    etag,
                    "NotFound 0 0-0 "
                );
        }

        return Step.Of(
            Model,
            CommandEncoder.HiloNext(database.Number, "users"u8, 0, 0, 0, (byte)'/', default),
            database.PutHilo(max + 32, etag),
            etag,
            $"Numbered {etag} {max + 1}-{max + 32} "
        );
    }

    /// <summary>The end of the document's range, or 0 if a batch has replaced its content.</summary>
    private static long MaxOf(ModelDocument document) =>
        document.Body.StartsWith("\"Max\":", StringComparison.Ordinal)
            ? long.Parse(document.Body["\"Max\":".Length..].Split(',')[0], CultureInfo.InvariantCulture)
            : 0;

    private Step Identity(ModelDatabase database)
    {
        long etag = Model.LastEtag + 1;
        long value = database.Identities.GetValueOrDefault("seq|");
        if (_random.Next(3) > 0)
        {
            return Step.Of(
                Model,
                CommandEncoder.IdentityNext(database.Number, "seq|"u8, default),
                database with
                {
                    Identities = database.Identities.SetItem("seq|", value + 1),
                },
                etag,
                $"Numbered 0 {value + 1}-{value + 1} "
            );
        }

        long seedValue = _random.Next(20);
        bool force = _random.Next(2) == 0;
        long now = !database.Identities.ContainsKey("seq|") || force || seedValue > value ? seedValue : value;
        return Step.Of(
            Model,
            CommandEncoder.IdentitySeed(database.Number, "seq|"u8, seedValue, force, default),
            database with
            {
                Identities = database.Identities.SetItem("seq|", now),
            },
            etag,
            $"Numbered 0 {now}-{now} "
        );
    }

    /// <summary>
    /// Returns a batch with a new key, a repeated batch, which gets the first answer, or another batch with a used key,
    /// which is refused.
    /// </summary>
    private Step WithKey(ModelDatabase database)
    {
        if (_random.Next(2) == 0 && _keys > 0 && database.Keys.Count > 0)
        {
            ulong used = (ulong)_random.Next(1, _keys + 1);
            if (database.Keys.TryGetValue(used, out var first))
            {
                var other = Batch(database, new IdempotencyKey(used, 7));
                if (_random.Next(2) == 0)
                {
                    bool isSame = other.Command.Written.Span.SequenceEqual(first.Command);
                    return Step.Of(
                        Model,
                        other.Command,
                        database,
                        other.After.LastEtag,
                        isSame ? first.Answer : "IdempotencyKeyReused   at -1"
                    );
                }

                other.Command.Dispose();
                var again = CommandBuffer.Rent();
                again.Write(first.Command);
                return Step.Of(
                    Model,
                    again,
                    database,
                    Model.LastEtag + new CommandReader(first.Command).OperationCount,
                    first.Answer
                );
            }
        }

        ulong fresh = (ulong)++_keys;
        var step = Batch(database, new IdempotencyKey(fresh, 7));
        byte[] command = step.Command.Written.ToArray();
        var after = step.After.Databases[database.Number];
        bool isRefused =
            step.Answer.StartsWith("ConcurrencyConflict", StringComparison.Ordinal)
            || step.Answer.StartsWith("DocumentMissing", StringComparison.Ordinal);
        return isRefused
            ? step
            : step with
            {
                After = step.After with
                {
                    Databases = step.After.Databases.SetItem(
                        database.Number,
                        after with
                        {
                            Keys = after.Keys.Add(fresh, (command, step.Answer)),
                        }
                    ),
                },
            };
    }

    private Step Expire(ModelDatabase database)
    {
        long now = _time.GetUtcNow().UtcTicks;
        using var writer = new ExpiryWriter(database.Number);
        long etag = Model.LastEtag;
        int deleted = 0;
        foreach (
            var document in database
                .Documents.Values.Where(document => document.ExpiresAtTicks != 0 && document.ExpiresAtTicks <= now)
                .Take(20)
        )
        {
            bool changedSince = _random.Next(10) == 0;
            writer.Add(
                Encoding.UTF8.GetBytes(document.Id.ToLowerInvariant()),
                changedSince ? document.Etag - 1 : document.Etag
            );
            etag++;
            if (!changedSince)
            {
                database = database.Delete(document.Id, etag);
                deleted++;
            }
        }

        return writer.Count == 0
            ? Identity(database)
            : Step.Of(Model, writer.Complete(), database, etag, $"Deleted 0 {deleted}-0 ");
    }

    private Step Horizon(ModelDatabase database)
    {
        long etag = Model.LastEtag + 1;
        long horizon = Model.LastEtag;
        return Step.Of(
            Model,
            CommandEncoder.SetTombstoneHorizon(database.Number, horizon),
            database with
            {
                Horizon = horizon,
                Tombstones = database.Tombstones.RemoveRange(
                    database.Tombstones.Keys.Where(at => at <= horizon).ToList()
                ),
            },
            etag,
            $"Configured {horizon} 0-0 "
        );
    }
}
