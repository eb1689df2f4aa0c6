using System.Buffers;
using System.Globalization;
using System.Text;
using Rookery.Documents.Commands;
using Rookery.Documents.Consensus;
using Rookery.Documents.Parsing;
using Rookery.Documents.Records;
using Rookery.Simulation;

namespace Rookery.Crash.Tests;

/// <summary>What a command should come to: the model after it, and what its caller should hear.</summary>
/// <param name="Command">The encoded command.</param>
/// <param name="After">The model after it.</param>
/// <param name="Answer">Its outcome, as <see cref="RandomCommands.Describe"/> writes it.</param>
internal sealed record Step(CommandBuffer Command, Model After, string Answer);

/// <summary>Makes commands at random, from a seed, and says what each should come to.</summary>
internal sealed class RandomCommands(int seed, SimulatedTimeProvider time, Model start)
{
    private static readonly string[] Names = ["db", "Other", "third"];
    private static readonly string[] Collections = ["Users", "users", "Orders", ""];
    private readonly Random _random = new(seed);
    private int _keys = (int)start.Databases.Values.SelectMany(database => database.Keys.Keys).DefaultIfEmpty().Max();

    public Model Model { get; private set; } = start;

    /// <summary>
    /// Whether compare-exchange values and cluster-wide transactions are among the commands. Without them, the work of
    /// a seed is that of earlier versions.
    /// </summary>
    public bool WithValues { get; set; }

    /// <summary>An outcome in words, to compare. Log times are left out.</summary>
    public static string Describe(in CommandOutcome outcome)
    {
        if (outcome.Rejection is { } rejection)
        {
            return $"{rejection.Kind} {rejection.Expected} {rejection.Actual} at {rejection.Operation}";
        }

        var text = new StringBuilder();
        for (int i = 0; i < outcome.Count; i++)
        {
            var result = outcome[i];
            text.Append($"{result.Status} {result.Etag} {result.Low}-{result.High} ");
        }

        return text.ToString();
    }

    public Step Next()
    {
        if (_random.Next(10) == 0)
        {
            time.Advance(TimeSpan.FromSeconds(_random.Next(100)));
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
            (_, < 23) when WithValues => Exchange(database),
            (_, < 37) when WithValues => ClusterTransaction(database),
            (_, < 60) => Batch(database),
            (_, < 68) => BulkPut(database),
            (_, < 74) => Merge(database),
            (_, < 80) => Hilo(database),
            (_, < 86) => Identity(database),
            (_, < 92) => WithKey(database),
            (_, < 94) when WithValues => ExpireValues(database),
            (_, < 98) => Expire(database),
            _ => Horizon(database),
        };
        Model = step.After;
        return step;
    }

    private Step Create()
    {
        string name = Names[_random.Next(Names.Length)];
        string history = Convert.ToBase64String(Bytes(17))[..HistoryId.Length];
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

    /// <summary>Some cluster records, stored and deleted all or none; what one expects may be wrong.</summary>
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

            string value = Padding(_random.Next(20) == 0 ? ClusterRecord.MaxValueBytes : _random.Next(200));
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
        for (int i = 0; i < count; i++)
        {
            etag++;
            string id = RandomId(before);
            var previous = after.Documents.GetValueOrDefault(id.ToLowerInvariant());
            string? expected = RandomExpectation(before, previous);
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
                after = Put(writer, after, id, expectation, etag);
                answer.Append($"Stored {etag} 0-0 ");
            }
        }

        return Ended(writer.Complete(), refusal is null ? after : before, etag, refusal ?? answer.ToString());
    }

    /// <summary>A put or delete of one compare-exchange value, whose expected index may be wrong.</summary>
    private Step Exchange(ModelDatabase database)
    {
        long etag = Model.LastEtag + 1;
        long now = time.GetUtcNow().UtcTicks;
        string key = RandomKey();
        long index = database.IndexOf(key, now);
        long expected = RandomIndex(index);
        if (_random.Next(3) == 0)
        {
            var delete = CommandEncoder.DeleteCompareExchange(database.Number, Bytes(key), expected, default);
            return index == 0 ? Ended(delete, database, etag, $"NotFound {etag} 0-0 ")
                : index != expected ? Ended(delete, database, etag, $"Mismatched {index} 0-0 ")
                : Ended(delete, WithoutValue(database, key), etag, $"Deleted {etag} 0-0 ");
        }

        var (body, expires) = RandomValue(now);
        var put = CommandEncoder.PutCompareExchange(
            database.Number,
            Bytes(key),
            expected,
            ParsedValue(body, expires),
            default
        );
        return index == expected
            ? Ended(put, database.PutValue(key, body, expires, etag), etag, $"Stored {etag} 0-0 ")
            : Ended(put, database, etag, $"Mismatched {(index == 0 ? etag : index)} 0-0 ");
    }

    /// <summary>
    /// Documents and values at once, all or none. The expectations are compared with the state before all of them.
    /// </summary>
    private Step ClusterTransaction(ModelDatabase before)
    {
        using var writer = new BatchWriter(CommandKind.ClusterTransaction, before.Number);
        bool hasGuards = _random.Next(4) > 0;
        if (!hasGuards)
        {
            writer.DisableGuards();
        }

        var after = before;
        long etag = Model.LastEtag;
        long now = time.GetUtcNow().UtcTicks;
        var answer = new StringBuilder();
        int refused = -1;
        int count = _random.Next(1, 5);
        for (int i = 0; i < count; i++)
        {
            etag++;
            if (_random.Next(2) == 0)
            {
                string key = RandomKey();
                long index = before.IndexOf(key, now);
                long expected = RandomIndex(index);
                refused = refused < 0 && index != expected ? i : refused;
                if (_random.Next(3) == 0)
                {
                    writer.DeleteCompareExchange(Bytes(key), expected);
                    bool exists = after.Values.ContainsKey(key.ToLowerInvariant());
                    answer.Append(exists ? $"Deleted {etag} 0-0 " : $"NotFound {etag} 0-0 ");
                    after = WithoutValue(after, key);
                    continue;
                }

                var (body, expires) = RandomValue(now);
                writer.PutCompareExchange(Bytes(key), expected, ParsedValue(body, expires));
                answer.Append($"Stored {etag} 0-0 ");
                after = after.PutValue(key, body, expires, etag);
                continue;
            }

            string id = RandomId(before);
            var previous = before.Documents.GetValueOrDefault(id.ToLowerInvariant());
            string? read = RandomExpectation(before, previous);
            string actual = previous is null ? "" : before.ChangeVectorOf(previous.Etag);
            bool conflicts = read is { Length: > 0 }
                ? !string.Equals(read, actual, StringComparison.Ordinal)
                : previous is not null
                    && (read is "" || before.Values.ContainsKey("rvn-atomic/" + id.ToLowerInvariant()));
            refused = refused < 0 && hasGuards && conflicts ? i : refused;
            var expectation = read is null
                ? ExpectedChangeVector.None
                : ExpectedChangeVector.MustEqual(Encoding.UTF8.GetBytes(read));
            if (_random.Next(4) == 0)
            {
                writer.Delete(Bytes(id), expectation);
                bool exists = after.Documents.ContainsKey(id.ToLowerInvariant());
                answer.Append(exists ? $"Deleted {etag} 0-0 " : "NotFound 0 0-0 ");
                after = after.Delete(id, etag);
                continue;
            }

            after = Put(writer, after, id, expectation, etag);
            answer.Append($"Stored {etag} 0-0 ");
            if (hasGuards)
            {
                after = after.PutValue($"rvn-atomic/{id}", $"\"Object\":{{\"Id\":\"{id}\"}}", 0, etag);
            }
        }

        return Ended(
            writer.Complete(),
            refused < 0 ? after : before,
            etag,
            refused < 0 ? answer.ToString() : $"ClusterTransactionConflict   at {refused}"
        );
    }

    /// <summary>Removes expired values; one that changed since, or has not expired, stays.</summary>
    private Step ExpireValues(ModelDatabase database)
    {
        long now = time.GetUtcNow().UtcTicks;
        using var writer = new ExpiryWriter(database.Number, CommandKind.ExpireCompareExchange);
        long etag = Model.LastEtag;
        int deleted = 0;
        foreach (var value in database.Values.Values.Where(value => value.ExpiresAtTicks != 0).Take(20))
        {
            bool changedSince = _random.Next(10) == 0;
            writer.Add(Bytes(value.Key.ToLowerInvariant()), changedSince ? value.Index - 1 : value.Index);
            etag++;
            if (!changedSince && value.ExpiresAtTicks <= now)
            {
                database = WithoutValue(database, value.Key);
                deleted++;
            }
        }

        return writer.Count == 0
            ? Exchange(database)
            : Ended(writer.Complete(), database, etag, $"Deleted 0 {deleted}-0 ");
    }

    private static ModelDatabase WithoutValue(ModelDatabase database, string key) =>
        database with
        {
            Values = database.Values.Remove(key.ToLowerInvariant()),
        };

    private static byte[] Bytes(string text) => Encoding.UTF8.GetBytes(text);

    private string RandomKey()
    {
        string key = $"keys/{_random.Next(12)}/";
        return _random.Next(5) == 0 ? key.ToUpperInvariant() : key;
    }

    private long RandomIndex(long index) =>
        _random.Next(8) switch
        {
            0 => 0,
            1 => _random.Next(200),
            _ => index,
        };

    // Now and then a value that is stored in chunks. Some have an expiry, but none expires within the run: a value that
    // has expired already is refused unless the log's time is in doubt, and a command's entry may be written later than
    // the command is made, so neither has a sure outcome.
    private (string Body, long ExpiresAtTicks) RandomValue(long now) =>
        (
            $"\"Object\":\"{Padding(_random.Next(40) == 0 ? 70_000 : _random.Next(100))}\"",
            _random.Next(6) switch
            {
                0 => now + (TimeSpan.TicksPerDay * (1001 + _random.Next(3))),
                1 => now + (TimeSpan.TicksPerDay * 1000),
                _ => 0,
            }
        );

    private static ParsedDocument ParsedValue(string body, long expires) =>
        new()
        {
            BodyHead = Encoding.UTF8.GetBytes(body),
            ExpiresAtTicks = expires,
            Metadata =
                expires == 0
                    ? default
                    : Encoding.UTF8.GetBytes($"\"@expires\":\"{new DateTime(expires, DateTimeKind.Utc):O}\""),
        };

    private Step BulkPut(ModelDatabase database)
    {
        using var writer = new BatchWriter(CommandKind.BulkPut, database.Number);
        long etag = Model.LastEtag;
        int count = _random.Next(1, 30);
        for (int i = 0; i < count; i++)
        {
            string id = _random.Next(8) == 0 ? "seq|" : RandomId(database);
            etag++;
            if (id.EndsWith('|'))
            {
                long next = database.Identities.GetValueOrDefault(id);
                do
                {
                    next++;
                    database = database with { Identities = database.Identities.SetItem(id, next) };
                } while (database.Documents.ContainsKey($"seq/{next}"));
                database = Put(writer, database, id, default, etag, $"seq/{next}");
                continue;
            }

            database = Put(writer, database, id, default, etag);
        }

        return Ended(writer.Complete(), database, etag, $"Stored {etag} {count}-0 ");
    }

    private Step Merge(ModelDatabase database)
    {
        string id = RandomId(database);
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
            return Ended(batch.Command, database, etag, "NotFound 0 0-0 ");
        }

        if (previous.Body.StartsWith("\"Max\"", StringComparison.Ordinal))
        {
            return Ended(
                batch.Command,
                database.Put(previous.Id, previous.Collection, $"{previous.Body},\"n\":{number}", 0, etag),
                etag,
                $"Patched {etag} 0-0 "
            );
        }

        string body = $"\"n\":{number}{previous.Body[previous.Body.IndexOf(',', StringComparison.Ordinal)..]}";
        return string.Equals(body, previous.Body, StringComparison.Ordinal)
            ? Ended(batch.Command, database, etag, $"NotModified {previous.Etag} 0-0 ")
            : Ended(
                batch.Command,
                database.Put(previous.Id, previous.Collection, body, previous.ExpiresAtTicks, etag),
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
                ? Ended(
                    CommandEncoder.HiloReturn(database.Number, "users"u8, last, end, default),
                    HiloPut(database, last, etag),
                    etag,
                    $"Numbered {etag} 0-{last} "
                )
                : Ended(
                    CommandEncoder.HiloReturn(database.Number, "users"u8, last, end, default),
                    database,
                    etag,
                    "NotFound 0 0-0 "
                );
        }

        return Ended(
            CommandEncoder.HiloNext(database.Number, "users"u8, 0, 0, 0, (byte)'/', default),
            HiloPut(database, max + 32, etag),
            etag,
            $"Numbered {etag} {max + 1}-{max + 32} "
        );
    }

    /// <summary>A batch may have made the document something else: then its numbers begin again.</summary>
    private static long MaxOf(ModelDocument document) =>
        document.Body.StartsWith("\"Max\":", StringComparison.Ordinal)
            ? long.Parse(document.Body["\"Max\":".Length..].Split(',')[0], CultureInfo.InvariantCulture)
            : 0;

    private static ModelDatabase HiloPut(ModelDatabase database, long max, long etag) =>
        database.Put("Raven/Hilo/users", "@hilo", $"\"Max\":{max}", 0, etag);

    private Step Identity(ModelDatabase database)
    {
        long etag = Model.LastEtag + 1;
        long value = database.Identities.GetValueOrDefault("seq|");
        if (_random.Next(3) > 0)
        {
            return Ended(
                CommandEncoder.IdentityNext(database.Number, "seq|"u8, default),
                database with
                {
                    Identities = database.Identities.SetItem("seq|", value + 1),
                },
                etag,
                $"Numbered 0 {value + 1}-{value + 1} "
            );
        }

        long wanted = _random.Next(20);
        bool force = _random.Next(2) == 0;
        long now = !database.Identities.ContainsKey("seq|") || force || wanted > value ? wanted : value;
        return Ended(
            CommandEncoder.IdentitySeed(database.Number, "seq|"u8, wanted, force, default),
            database with
            {
                Identities = database.Identities.SetItem("seq|", now),
            },
            etag,
            $"Numbered 0 {now}-{now} "
        );
    }

    /// <summary>
    /// A batch under a new key, the same one again, whose answer comes back, or another one under a key that was used,
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
                    return Ended(
                        other.Command,
                        database,
                        other.After.LastEtag,
                        isSame ? first.Answer : "IdempotencyKeyReused   at -1"
                    );
                }

                other.Command.Dispose();
                var again = CommandBuffer.Rent();
                again.Write(first.Command);
                return Ended(
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
        return step.Answer.StartsWith("ConcurrencyConflict", StringComparison.Ordinal)
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
        long now = time.GetUtcNow().UtcTicks;
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
            : Ended(writer.Complete(), database, etag, $"Deleted 0 {deleted}-0 ");
    }

    private Step Horizon(ModelDatabase database)
    {
        long etag = Model.LastEtag + 1;
        long horizon = Model.LastEtag;
        return Ended(
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

    private ModelDatabase Put(
        BatchWriter writer,
        ModelDatabase database,
        string id,
        ExpectedChangeVector expected,
        long etag,
        string? storedAs = null
    )
    {
        // Now and then a document that is stored in chunks, and in a segment of its own.
        string padding = Padding(_random.Next(80) == 0 ? 70_000 : _random.Next(200));
        string body = $"\"n\":{_random.Next(1000)},\"pad\":\"{padding}\"";
        string collection = Collections[_random.Next(Collections.Length)];
        long expires =
            _random.Next(5) == 0 ? time.GetUtcNow().UtcTicks + (_random.Next(300) * TimeSpan.TicksPerSecond) : 0;
        writer.Put(
            Encoding.UTF8.GetBytes(id),
            expected,
            new ParsedDocument
            {
                BodyHead = Encoding.UTF8.GetBytes(body),
                Collection = Encoding.UTF8.GetBytes(collection),
                ExpiresAtTicks = expires,
                Metadata =
                    expires == 0
                        ? default
                        : Encoding.UTF8.GetBytes($"\"@expires\":\"{new DateTime(expires, DateTimeKind.Utc):O}\""),
            }
        );
        return database.Put(storedAs ?? id, collection, body, expires, etag);
    }

    private Step Ended(CommandBuffer command, ModelDatabase database, long etag, string answer) =>
        new(
            command,
            Model with
            {
                Databases = Model.Databases.SetItem(database.Number, database with { LastEtag = etag }),
                LastEtag = etag,
            },
            answer
        );

    /// <summary>Half of all text can be compressed.</summary>
    private string Padding(int length) =>
        _random.Next(2) == 0
            ? new string((char)('a' + _random.Next(26)), length)
            : Convert.ToBase64String(Bytes(length * 3 / 4));

    private string RandomId(ModelDatabase database) =>
        _random.Next(20) switch
        {
            0 => $"users/{_random.Next(40)}".ToUpperInvariant(),
            1 when database.Documents.Count > 0 => database
                .Documents.Values.ElementAt(_random.Next(database.Documents.Count))
                .Id,
            _ => $"users/{_random.Next(40)}",
        };

    private string? RandomExpectation(ModelDatabase database, ModelDocument? previous) =>
        _random.Next(12) switch
        {
            0 => string.Empty,
            1 => database.ChangeVectorOf(_random.Next(100)),
            2 or 3 or 4 when previous is not null => database.ChangeVectorOf(previous.Etag),
            2 => string.Empty,
            _ => null,
        };

    private byte[] Bytes(int count)
    {
        byte[] bytes = new byte[count];
        _random.NextBytes(bytes);
        return bytes;
    }
}
