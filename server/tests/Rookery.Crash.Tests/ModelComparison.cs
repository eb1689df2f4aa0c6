using System.Text;
using Rookery.Documents.Commands;
using Rookery.Documents.Databases;
using Rookery.Documents.Nodes;
using Rookery.Documents.Schedules;
using Rookery.Documents.Stored;
using Rookery.Documents.Subscriptions;

namespace Rookery.Crash.Tests;

/// <summary>Reads a node's whole state through each kind of read, and compares it with the model.</summary>
internal static class ModelComparison
{
    public static void Check(SteppedNode node, Model model, string story)
    {
        AssertEqual(
            model
                .Databases.Values.OrderBy(database => database.Name, StringComparer.OrdinalIgnoreCase)
                .Select(database => (database.Number, database.Name, database.HistoryId)),
            node.Core.Databases.All.Select(database => (database.Number, database.Name, database.HistoryId)),
            $"{story}: databases"
        );
        AssertEqual(
            model.Records.Select(pair => (pair.Key, pair.Value.Value, pair.Value.Version)),
            node.Core.ClusterRecords.List(string.Empty)
                .Select(record => (record.Key, Encoding.ASCII.GetString(record.Value.Span), record.Version)),
            $"{story}: cluster records"
        );
        foreach (var expected in model.Databases.Values)
        {
            Assert.True(
                node.Core.Databases.TryGet(expected.Name, out var database),
                $"{story}: the database {expected.Name} is missing"
            );
            using var reader = database.OpenReader();
            CheckDocuments(reader, expected, $"{story}: {expected.Name}");
            CheckChangesAndCollections(reader, expected, $"{story}: {expected.Name}");
            CheckValues(reader, expected, $"{story}: {expected.Name}");
            CheckSubscriptions(reader, expected, $"{story}: {expected.Name}");
            CheckDocumentCounters(reader, expected, $"{story}: {expected.Name}");
            CheckConfigurations(database, expected, $"{story}: {expected.Name}");
            CheckStatistics(reader, expected, $"{story}: {expected.Name}");
        }
    }

    private static void CheckDocuments(in DatabaseReader reader, ModelDatabase expected, string story)
    {
        var actual = new List<ModelDocument>();
        using (var cursor = reader.SeekByIdPrefix(prefix: []))
        {
            while (cursor.MoveNext())
            {
                actual.Add(Read(cursor.View, cursor.Etag));
            }
        }

        AssertEqual(expected.Documents.Values.Select(WithoutRegistration), actual, $"{story}: documents");
        foreach (var document in expected.Documents.Values.Take(3))
        {
            Assert.True(
                reader.TryGetDocument(Encoding.UTF8.GetBytes(document.Id.ToUpperInvariant()), out var lookedUp),
                $"{story}: {document.Id} is not found by its id in upper case"
            );
            using (lookedUp)
            {
                Assert.Equal(WithoutRegistration(document), Read(lookedUp.View, lookedUp.Etag));
            }
        }
    }

    private static void CheckChangesAndCollections(in DatabaseReader reader, ModelDatabase expected, string story)
    {
        var documents = expected.Documents.Values.OrderBy(document => document.Etag).ToList();
        var changes = new List<(long Etag, string Id, bool IsTombstone, bool Moved)>();
        using (var cursor = reader.SeekChanges(afterEtag: 0))
        {
            while (cursor.MoveNext())
            {
                changes.Add(
                    cursor.IsTombstone
                        ? (cursor.Etag, cursor.Tombstone.Id, true, cursor.Tombstone.Moved)
                        : (cursor.Etag, Encoding.UTF8.GetString(cursor.View.Id), false, false)
                );
            }
        }

        AssertEqual(
            expected
                .Tombstones.Select(pair => (pair.Key, pair.Value.Id, true, pair.Value.Moved))
                .Concat(documents.Select(document => (document.Etag, document.Id, false, false)))
                .OrderBy(change => change.Item1)
                .ThenBy(change => !change.Item3),
            changes,
            $"{story}: changes"
        );

        foreach (var collection in documents.GroupBy(document => document.Collection, StringComparer.OrdinalIgnoreCase))
        {
            using var cursor = reader.SeekByCollection(Encoding.UTF8.GetBytes(collection.Key.ToUpperInvariant()));
            var etags = new List<long>();
            while (cursor.MoveNext())
            {
                etags.Add(cursor.Etag);
            }

            AssertEqual(collection.Select(document => document.Etag), etags, $"{story}: collection {collection.Key}");
        }

        byte[] from = [];
        Expiration.NextCommand(reader.Database, DateTime.MaxValue.Ticks - 1, ref from, out int expiring)?.Dispose();
        AssertEqual([documents.Count(document => document.ExpiresAtTicks != 0)], [expiring], $"{story}: expiring");
    }

    private static void CheckConfigurations(Database database, ModelDatabase expected, string story)
    {
        AssertEqual(
            expected.Configurations.Select(pair => (pair.Key, pair.Value.Json, pair.Value.Etag)),
            expected.Configurations.Keys.Select(name =>
            {
                var found = database.Configurations.Find(name);
                return (name, Encoding.UTF8.GetString(found.Json.Span), found.Etag);
            }),
            $"{story}: configurations"
        );
        AssertEqual([expected.Configurations.Count], [database.Configurations.Count], $"{story}: configurations");
        foreach (var kind in Enum.GetValues<ScheduleKind>())
        {
            AssertEqual(
                expected
                    .Documents.Values.Where(document => document.IsRegistered && document.TimeOf(kind) > 0)
                    .Select(document => (document.TimeOf(kind), document.Etag))
                    .Order(),
                ReadScheduled(database, kind),
                $"{story}: documents to {kind}"
            );
        }
    }

    private static List<(long DueTicks, long Etag)> ReadScheduled(Database database, ScheduleKind kind)
    {
        var found = new List<(long DueTicks, long Etag)>();
        byte[] from = [];
        do
        {
            using var command = ScheduledWork.NextCommand(database, kind, DateTime.MaxValue.Ticks - 1, ref from, out _);
            if (command is null)
            {
                break;
            }

            var reader = new CommandReader(command.Written.Span);
            reader.ReadScheduleAction();
            while (reader.TryReadScheduled(out var scheduled))
            {
                found.Add((scheduled.DueTicks, scheduled.Etag));
            }
        } while (from.Length > 0);

        return found;
    }

    private static ModelDocument WithoutRegistration(ModelDocument document) => document with { IsRegistered = false };

    private static void CheckValues(in DatabaseReader reader, ModelDatabase expected, string story)
    {
        var actual = new List<ModelValue>();
        using var cursor = reader.SeekCompareExchange([]);
        while (cursor.MoveNext())
        {
            var view = cursor.View;
            actual.Add(
                new ModelValue(
                    Encoding.UTF8.GetString(view.Id),
                    Encoding.UTF8.GetString(view.Body),
                    cursor.Etag,
                    view.ExpiresAtTicks
                )
            );
        }

        AssertEqual(expected.Values.Values, actual, $"{story}: compare-exchange values");
        foreach (var value in expected.Values.Values.Take(5))
        {
            bool isFound = reader.TryGetCompareExchange(
                Encoding.UTF8.GetBytes(value.Key.ToUpperInvariant()),
                out var lookedUp
            );
            lookedUp.Dispose();
            Assert.Equal(!Expiry.HasPassed(value.ExpiresAtTicks, reader.ReadExpiryTicks()), isFound);
        }

        byte[] from = [];
        Expiration
            .NextCommand(
                reader.Database,
                DateTime.MaxValue.Ticks - 1,
                ref from,
                out int expiring,
                CommandKind.ExpireCompareExchange
            )
            ?.Dispose();
        int withExpiry = actual.Count(value => value.ExpiresAtTicks != 0);
        AssertEqual([withExpiry], [expiring], $"{story}: expiring values");
    }

    private static void CheckSubscriptions(in DatabaseReader reader, ModelDatabase expected, string story)
    {
        var actual = new List<ModelSubscription>();
        byte[]? after = null;
        while (SubscriptionRows.ReadNext(reader, skipped: 0, ref after) is { } record)
        {
            actual.Add(
                new ModelSubscription(
                    record.Name,
                    record.Number,
                    record.Query,
                    record.Version,
                    record.Progress,
                    record.AcknowledgedTicks > 0
                )
            );
        }

        AssertEqual(expected.Subscriptions.Values, actual, $"{story}: subscriptions");
    }

    // The names come from the documents, the values from the counters' own rows.
    private static void CheckDocumentCounters(in DatabaseReader reader, ModelDatabase expected, string story)
    {
        var found = new List<(string Key, string Name, long Value)>();
        using var cursor = reader.SeekByIdPrefix(prefix: []);
        while (cursor.MoveNext())
        {
            var head = cursor.Head;
            var names = new CounterNames(head.CounterNames);
            while (names.MoveNext())
            {
                string name = Encoding.UTF8.GetString(names.Name);
                long? value = reader.ReadCounter(head.Id, Encoding.UTF8.GetBytes(name.ToUpperInvariant()), out _);
                found.Add((ModelDatabase.CounterKey(Encoding.UTF8.GetString(head.Id), name), name, value!.Value));
            }
        }

        AssertEqual(
            expected.Counters.Select(pair => (pair.Key, pair.Value.Name, pair.Value.Value)),
            found,
            $"{story}: counters of documents"
        );
    }

    private static void CheckStatistics(in DatabaseReader reader, ModelDatabase expected, string story)
    {
        var statistics = reader.ReadStatistics();
        AssertEqual(
            [
                new DatabaseStatistics(
                    expected.Documents.Count,
                    expected.Tombstones.Count,
                    expected.LastDocumentEtag,
                    expected.LastEtag,
                    expected.Horizon,
                    expected.Identities.Count,
                    expected.Values.Count,
                    expected.Counters.Count,
                    Attachments: default
                ),
            ],
            [statistics],
            $"{story}: statistics"
        );
        AssertEqual(
            expected
                .Documents.Values.GroupBy(
                    document => document.Collection.Length == 0 ? "@empty" : document.Collection.ToLowerInvariant(),
                    StringComparer.Ordinal
                )
                .OrderBy(group => group.Key, StringComparer.Ordinal)
                .Select(group => (group.Key, (long)group.Count())),
            reader.ReadCollections().Select(collection => (collection.Name.ToLowerInvariant(), collection.Documents)),
            $"{story}: collections"
        );
        AssertEqual(
            expected.Identities.Select(pair => new IdentityValue(pair.Key, pair.Value)),
            reader.ReadIdentities(),
            $"{story}: identities"
        );
    }

    private static ModelDocument Read(in DocumentView view, long etag) =>
        new(
            Encoding.UTF8.GetString(view.Id),
            Encoding.UTF8.GetString(view.Collection),
            Encoding.UTF8.GetString(view.Body),
            etag,
            view.ExpiresAtTicks
        )
        {
            RefreshTicks = ScheduledTimes.Read(view.Metadata, ScheduleKind.Refresh),
            ArchiveTicks = ScheduledTimes.Read(view.Metadata, ScheduleKind.Archive),
            IsArchived = ScheduledTimes.IsArchived(view.Metadata),
        };

    /// <summary>Fails unless two lists are equal, with the first difference.</summary>
    private static void AssertEqual<T>(IEnumerable<T> expected, IEnumerable<T> actual, string story)
    {
        var expectedList = expected.ToList();
        var actualList = actual.ToList();
        int same = expectedList
            .Zip(actualList)
            .TakeWhile(pair => EqualityComparer<T>.Default.Equals(pair.First, pair.Second))
            .Count();
        if (same < Math.Max(expectedList.Count, actualList.Count))
        {
            Assert.Fail(
                $"{story}: {expectedList.Count} expected, {actualList.Count} found; at {same} expected "
                    + $"{Text(expectedList, same)}, found {Text(actualList, same)}"
            );
        }
    }

    private static string Text<T>(List<T> items, int position) =>
        position < items.Count ? items[position]!.ToString()! : "nothing";
}
