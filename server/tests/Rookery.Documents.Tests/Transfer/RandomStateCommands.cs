using System.Text;
using Rookery.Documents.Commands;
using Rookery.Documents.Nodes;
using Rookery.Documents.Parsing;
using Rookery.Documents.Revisions;
using Rookery.Documents.Subscriptions;
using Rookery.Documents.Tests.Nodes;
using Rookery.Simulation;

namespace Rookery.Documents.Tests.Transfer;

/// <summary>Random commands of every kind that adds or removes rows.</summary>
internal sealed class RandomStateCommands(SteppedNode node, Random random, SimulatedTimeProvider time)
{
    private readonly Dictionary<(string Database, string Id), long> _expiring = [];
    private ulong _key;

    public void Run(int count)
    {
        for (int i = 0; i < count; i++)
        {
            RunOne();
            if (random.Next(25) == 0)
            {
                node.Flush();
            }
        }
    }

    private void RunOne()
    {
        string database = $"db{random.Next(3)}";
        if (!node.Core.Databases.TryGet(database, out var existing))
        {
            node.CreateDatabase(database);
            return;
        }

        uint number = existing.Number;
        string id = $"users/{random.Next(60)}";
        switch (random.Next(40))
        {
            case 0 when random.Next(3) == 0:
                node.Run(CommandEncoder.DeleteDatabases([database]));
                break;
            case 1:
                node.Run(CommandEncoder.SetTombstoneHorizon(number, random.NextInt64(node.Core.Storage.Sequence)));
                break;
            case 2:
                time.Advance(TimeSpan.FromHours(random.Next(30)));
                break;
            case 3:
                Expire(database, number);
                break;
            case 4:
                node.Propose(
                    CommandEncoder.HiloNext(
                        number,
                        "Users"u8,
                        lastBatchSize: 32,
                        lastRangeAtTicks: 0,
                        lastMax: 0,
                        (byte)'/',
                        key: default
                    )
                );
                break;
            case 5:
                node.Propose(CommandEncoder.IdentityNext(number, "orders|"u8, key: default));
                break;
            case 6 or 7:
                SetRecords();
                break;
            case 8:
                node.Run(CommandEncoder.SetConfiguration(number, $"c{random.Next(3)}", "{}"u8));
                break;
            case < 18:
                node.Propose(
                    CommandEncoder.Delete(number, Encoding.UTF8.GetBytes(id), ExpectedChangeVector.None, key: default)
                );
                break;
            case < 24:
                AddCounters(number, id);
                break;
            case 24:
                ConfigureRevisions(number);
                break;
            case 25:
                ChangeRevisions(number, id);
                break;
            case < 28:
                ChangeSubscription(number);
                break;
            default:
                Put(database, number, id);
                break;
        }
    }

    private void ConfigureRevisions(uint number)
    {
        var rule = random.Next(3) == 0 ? null : new RevisionRule { MinimumToKeep = random.Next(1, 5) };
        node.Run(CommandEncoder.ConfigureRevisions(number, new RevisionsConfiguration(rule, [])));
    }

    // Forces or removes revisions; refused for a document that does not exist.
    private void ChangeRevisions(uint number, string id)
    {
        using var writer = new BatchWriter(CommandKind.Batch, number);
        writer.Revision(
            Encoding.UTF8.GetBytes(id),
            new RevisionCommand
            {
                Action = random.Next(2) == 0 ? RevisionAction.Force : RevisionAction.Enforce,
                IncludesForced = true,
            }
        );
        node.Propose(writer.Complete());
    }

    private CommandBuffer Acknowledge(uint database, long number)
    {
        using var reader = node.Core.Databases.All.First(one => one.Number == database).OpenReader();
        long version = SubscriptionRows.Find(reader, number)?.Version ?? 0;
        return SubscriptionWriter.Acknowledge(database, number, version, expected: 0, 1, connectedTicks: 0);
    }

    // Defines, deletes or acknowledges one of three subscriptions.
    private void ChangeSubscription(uint number)
    {
        string name = $"s{random.Next(3)}";
        node.Propose(
            random.Next(4) switch
            {
                0 => SubscriptionWriter.Delete(number, key: default, name),
                1 => Acknowledge(number, random.Next(1, 5)),
                _ => SubscriptionWriter.Put(
                    number,
                    key: default,
                    name,
                    new SubscriptionCommand
                    {
                        Kind = SubscriptionCommandKind.Put,
                        Query = Encoding.UTF8.GetBytes($"from C{random.Next(4)}"),
                        Creates = true,
                    }
                ),
            }
        );
    }

    // Changes one to three counters; refused for a document that does not exist.
    private void AddCounters(uint number, string id)
    {
        var counters = new CounterOperationList(FormatLevel.Newest);
        for (int i = random.Next(3); i >= 0; i--)
        {
            counters.Add(
                random.Next(3) == 0 ? OperationKind.CounterDelete : OperationKind.CounterIncrement,
                Encoding.UTF8.GetBytes($"c{random.Next(6)}"),
                delta: 1
            );
        }

        using var writer = new BatchWriter(CommandKind.Batch, number);
        writer.Counters(Encoding.UTF8.GetBytes(id), counters);
        counters.Release();
        node.Propose(writer.Complete());
    }

    private void Put(string database, uint number, string id)
    {
        bool expires = random.Next(5) == 0;
        // Above 64 KiB a value is stored in chunks.
        int length = random.Next(15) == 0 ? 70_000 : random.Next(300);
        string json =
            $$"""{"Text":"{{new string((char)('a' + random.Next(26)), length)}}","@metadata":{"@collection":"C{{random.Next(4)}}"{{(expires ? ",\"@expires\":\"2020-01-01T00:00:00.0000000Z\"" : string.Empty)}}} }""";
        using var parser = DocumentParser.Rent();
        Assert.True(parser.TryParse(Encoding.UTF8.GetBytes(json), out var document, out _));
        var key = random.Next(4) == 0 ? new IdempotencyKey(1, ++_key) : default;
        var outcome = node.Propose(
            CommandEncoder.Put(number, Encoding.UTF8.GetBytes(id), ExpectedChangeVector.None, document, key)
        );
        Assert.Null(outcome.Rejection);
        _expiring.Remove((database, id));
        if (expires)
        {
            _expiring.Add((database, id), outcome[0].Etag);
        }
    }

    private void Expire(string database, uint number)
    {
        using var writer = new ExpiryWriter(number);
        foreach (
            var ((_, id), etag) in _expiring
                .Where(expiring => string.Equals(expiring.Key.Database, database, StringComparison.Ordinal))
                .ToList()
        )
        {
            writer.Add(Encoding.UTF8.GetBytes(id), etag);
            _expiring.Remove((database, id));
        }

        if (writer.Count > 0)
        {
            node.Run(writer.Complete());
        }
    }

    private void SetRecords()
    {
        using var records = new ClusterRecordWriter();
        string key = $"token/{random.Next(12)}";
        if (random.Next(2) == 0)
        {
            records.Set(key, Encoding.UTF8.GetBytes($"{random.Next()}"));
        }
        else
        {
            records.Delete(key);
        }

        node.Run(records.Complete());
    }
}
