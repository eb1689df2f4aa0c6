using System.Text;
using Rookery.Documents.Subscriptions;

namespace Rookery.Crash.Tests;

/// <summary>Makes random commands about subscriptions, each with its expected outcome.</summary>
internal sealed class RandomSubscriptions(Random random)
{
    private static readonly string[] Names = ["orders", "Users", "audit"];

    /// <summary>Returns a definition, a deletion, an acknowledgement or a drop.</summary>
    public Step Next(Model model, ModelDatabase database) =>
        random.Next(6) switch
        {
            0 or 1 => Put(model, database),
            2 => Delete(model, database),
            3 => Drop(model, database),
            _ => Acknowledge(model, database),
        };

    private Step Put(Model model, ModelDatabase database)
    {
        long etag = model.LastEtag + 1;
        string name = random.Next(2) == 0 ? Names[random.Next(Names.Length)] : Upper(Names[random.Next(Names.Length)]);
        string lower = name.ToLowerInvariant();
        bool mustBeNew = random.Next(2) == 0;
        bool isAtEnd = random.Next(3) == 0;
        string query = $"from A{random.Next(3)}";
        var command = SubscriptionWriter.Put(
            database.Number,
            key: default,
            name,
            new SubscriptionCommand
            {
                Kind = SubscriptionCommandKind.Put,
                Query = Encoding.UTF8.GetBytes(query),
                Creates = true,
                MustBeNew = mustBeNew,
                StartKind = isAtEnd ? SubscriptionStart.LastDocument : SubscriptionStart.Unchanged,
            }
        );
        if (!database.Subscriptions.TryGetValue(lower, out var existing))
        {
            long number = database.LastSubscription + 1;
            long start = isAtEnd ? database.LastDocumentEtag : 0;
            var created = new ModelSubscription(name, number, query, Version: etag, start, IsAcknowledged: false);
            return Step.Of(
                model,
                command,
                database with
                {
                    Subscriptions = database.Subscriptions.SetItem(lower, created),
                    LastSubscription = number,
                },
                etag,
                $"Created {etag} {number}-0 "
            );
        }

        if (mustBeNew)
        {
            return Step.Of(model, command, database, etag, "Invalid   at -1");
        }

        var changed = existing with
        {
            Query = query,
            Progress = isAtEnd ? database.LastDocumentEtag : existing.Progress,
        };
        string status = changed == existing ? "NotModified" : "Configured";
        changed = changed == existing ? existing : changed with { Version = etag };
        return Step.Of(
            model,
            command,
            database with
            {
                Subscriptions = database.Subscriptions.SetItem(lower, changed),
            },
            etag,
            $"{status} {etag} {existing.Number}-0 "
        );
    }

    private Step Delete(Model model, ModelDatabase database)
    {
        long etag = model.LastEtag + 1;
        string name = Names[random.Next(Names.Length)];
        var command = SubscriptionWriter.Delete(database.Number, key: default, Upper(name));
        string lower = name.ToLowerInvariant();
        return database.Subscriptions.TryGetValue(lower, out var existing)
            ? Step.Of(
                model,
                command,
                database with
                {
                    Subscriptions = database.Subscriptions.Remove(lower),
                },
                etag,
                $"Deleted {etag} {existing.Number}-0 "
            )
            : Step.Of(model, command, database, etag, "NotFound 0 0-0 ");
    }

    private Step Drop(Model model, ModelDatabase database)
    {
        long etag = model.LastEtag + 1;
        string name = Names[random.Next(Names.Length)];
        var command = SubscriptionWriter.Drop(database.Number, name, random.Next(2) == 0 ? "w" : null);
        bool exists = database.Subscriptions.TryGetValue(name.ToLowerInvariant(), out var existing);
        return Step.Of(
            model,
            command,
            database,
            etag,
            exists ? $"Configured {etag} {existing!.Number}-0 " : "NotFound 0 0-0 "
        );
    }

    /// <summary>Raises the progress of a subscription. The expected progress may be wrong.</summary>
    private Step Acknowledge(Model model, ModelDatabase database)
    {
        if (database.Subscriptions.IsEmpty)
        {
            return Put(model, database);
        }

        long etag = model.LastEtag + 1;
        var (lower, existing) = database.Subscriptions.ElementAt(random.Next(database.Subscriptions.Count));
        long expected = random.Next(4) == 0 ? existing.Progress + 1 : existing.Progress;
        long progress = random.NextInt64(existing.Progress, etag + 1);
        var command = SubscriptionWriter.Acknowledge(
            database.Number,
            existing.Number,
            existing.Version,
            expected,
            progress,
            connectedTicks: 5
        );
        return expected != existing.Progress
            ? Step.Of(model, command, database, etag, $"Mismatched {existing.Progress} {existing.Number}-0 ")
            : Step.Of(
                model,
                command,
                database with
                {
                    Subscriptions = database.Subscriptions.SetItem(
                        lower,
                        existing with
                        {
                            Progress = progress,
                            IsAcknowledged = true,
                        }
                    ),
                },
                etag,
                $"Configured {progress} {existing.Number}-0 "
            );
    }

    private static string Upper(string name) => name.ToUpperInvariant();
}
