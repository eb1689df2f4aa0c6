using System.Globalization;
using System.Text;
using System.Text.Json;
using Microsoft.AspNetCore.Http;
using Rookery.Documents.Commands;
using Rookery.Documents.Consensus;
using Rookery.Documents.Databases;
using Rookery.Documents.Ids;
using Rookery.Documents.Nodes;
using Rookery.Documents.Parsing;
using Rookery.Server.Raven.BulkInsert;
using Rookery.Server.Raven.CompareExchange;
using Rookery.Server.Raven.Documents;
using Rookery.Server.Raven.Indexes;
using OperationStatus = Rookery.Documents.Consensus.OperationStatus;

namespace Rookery.Server.Raven.Smuggler;

/// <summary>Stores the counters, compare-exchange values, identities and indexes of a dump, one by one.</summary>
internal sealed class DumpedValues(
    ServerContext context,
    HttpContext http,
    Database database,
    SmugglerOperation operation
)
{
    // Another writer can change the value between its reading and the put.
    private const int MaxAttempts = 16;

    private readonly DefineIndexes _indexes = new(context);

    /// <summary>Returns the type of data in a section; null for a section that is left out.</summary>
    public static string? TypeOf(string section) =>
        section is "CounterGroups" or "CompareExchange" or "Identities" or "Indexes" or "Subscriptions"
            ? section
            : null;

    /// <summary>Stores an element, or counts and names it if it is not valid or too large here.</summary>
    /// <param name="section">The section of the dump.</param>
    /// <param name="element">The element.</param>
    /// <param name="options">What the import is to contain.</param>
    /// <exception cref="RefusedException">The database takes nothing now, so the rest of the dump is refused too.
    /// </exception>
    public async ValueTask StoreAsync(string section, JsonElement element, SmugglerOptions options)
    {
        try
        {
            await StoreCheckedAsync(section, element, options);
        }
        catch (RefusedException refused)
            when (refused.Status
                    is StatusCodes.Status400BadRequest
                        or StatusCodes.Status413PayloadTooLarge
                        or StatusCodes.Status501NotImplemented
            )
        {
            CountOf(section).Fail();
            operation.Tell($"An element of {section} is not stored: {refused.Message}");
        }
    }

    private ValueTask StoreCheckedAsync(string section, JsonElement element, SmugglerOptions options) =>
        section switch
        {
            "CounterGroups" => StoreCountersAsync(element, options),
            "CompareExchange" => StoreCompareExchangeAsync(element),
            "Identities" => StoreIdentityAsync(element),
            "Subscriptions" => StoreSubscriptionAsync(element),
            _ => StoreIndexAsync(element),
        };

    private SmugglerCount CountOf(string section) =>
        section switch
        {
            "CounterGroups" => operation.Counters,
            "CompareExchange" => operation.CompareExchange,
            "Identities" => operation.Identities,
            "Subscriptions" => operation.Subscriptions,
            _ => operation.Indexes,
        };

    private async ValueTask StoreCountersAsync(JsonElement group, SmugglerOptions options)
    {
        string id = TextOf(group.GetProperty("DocId"));
        if (options.Collections is { } collections && !IsIn(collections, id))
        {
            return; // of a document that the import leaves out
        }

        var values = group.GetProperty("Values");
        bool hasNames = values.TryGetProperty("@names", out var names) && names.ValueKind == JsonValueKind.Object;
        var counters = new List<(string Name, long Value)>();
        foreach (var counter in values.GetProperty("@vals").EnumerateObject())
        {
            if (counter.Value.ValueKind != JsonValueKind.Array)
            {
                continue; // the change vector of a deletion
            }

            // Each database that counted has two numbers: its part of the value, and an etag.
            long value = counter
                .Value.EnumerateArray()
                .Where(static (_, i) => i % 2 == 0)
                .Aggregate(0L, static (sum, part) => unchecked(sum + part.GetInt64()));
            string name =
                hasNames && names.TryGetProperty(counter.Name, out var written) ? TextOf(written) : counter.Name;
            counters.Add((name, value));
        }

        int total = counters.Count;
        RemoveStored(id, counters);
        if (counters.Count == 0)
        {
            operation.Counters.Add(total);
            return;
        }

        long ticks = TicksOf(id);
        var outcome = await ProposeAsync(() => EncodeCounters(id, counters));
        if (outcome.Rejection is { Kind: RejectionKind.DocumentMissing } missing)
        {
            operation.Counters.Fail();
            operation.Tell($"Counters are not stored: {missing.Message}");
            return;
        }

        Require(outcome);
        operation.Counters.Add(total);
        await RestoreTimeAsync(id, ticks);
    }

    private bool IsIn(HashSet<string> collections, string id)
    {
        using var reader = database.OpenReader();
        if (!reader.TryGetDocument(Encoding.UTF8.GetBytes(id), out var document))
        {
            return false;
        }

        using (document)
        {
            return collections.Contains(Encoding.UTF8.GetString(document.Head.Collection));
        }
    }

    // Otherwise a second import would make a further version of the document.
    private void RemoveStored(string id, List<(string Name, long Value)> counters)
    {
        byte[] utf8Id = Encoding.UTF8.GetBytes(id);
        using var reader = database.OpenReader();
        var snapshot = reader;
        counters.RemoveAll(counter =>
            snapshot.ReadCounter(utf8Id, Encoding.UTF8.GetBytes(counter.Name), out _) == counter.Value
        );
    }

    private long TicksOf(string id)
    {
        using var reader = database.OpenReader();
        if (!reader.TryGetDocument(Encoding.UTF8.GetBytes(id), out var document))
        {
            return 0;
        }

        using (document)
        {
            return document.Head.LastModifiedTicks;
        }
    }

    // A new counter changed the document, which keeps the time that the dump has.
    private async ValueTask RestoreTimeAsync(string id, long ticks)
    {
        if (ticks == 0 || TicksOf(id) == ticks || context.Node.FormatLevel.Level < FormatLevel.Revisions)
        {
            return;
        }

        var key = Key();
        Require(
            await ProposeAsync(() =>
            {
                using var writer = new BatchWriter(CommandKind.BulkPut, database.Number, key);
                writer.Restate(Encoding.UTF8.GetBytes(id), ticks);
                return writer.Complete();
            })
        );
    }

    // A counter is removed and incremented, so that it has the value of the dump, also after a second import.
    private CommandBuffer EncodeCounters(string id, List<(string Name, long Value)> counters)
    {
        using var body = ResponseBuffer.Rent();
        using (var json = new Utf8JsonWriter(body))
        {
            json.WriteStartObject();
            json.WriteStartArray("Commands"u8);
            json.WriteStartObject();
            json.WriteString("Id"u8, id);
            json.WriteString("Type"u8, "Counters"u8);
            json.WriteStartObject("Counters"u8);
            json.WriteString("DocumentId"u8, id);
            json.WriteStartArray("Operations"u8);
            foreach (var (name, value) in counters)
            {
                WriteOperation(json, "Delete", name, delta: null);
                WriteOperation(json, "Increment", name, value);
            }

            json.WriteEndArray();
            json.WriteEndObject();
            json.WriteEndObject();
            json.WriteEndArray();
            json.WriteEndObject();
        }

        return BatchRequestParser.TryParse(
            body.Written.Span,
            database.Number,
            Key(),
            context.Options.BatchBytesLimit,
            out var batch,
            out var error,
            context.Node.FormatLevel.Level
        )
            ? batch.Command
            : throw RavenErrors.Refuse(error);
    }

    private static void WriteOperation(Utf8JsonWriter json, string type, string name, long? delta)
    {
        json.WriteStartObject();
        json.WriteString("Type"u8, type);
        json.WriteString("CounterName"u8, name);
        if (delta is { } number)
        {
            json.WriteNumber("Delta"u8, number);
        }

        json.WriteEndObject();
    }

    private async ValueTask StoreCompareExchangeAsync(JsonElement item)
    {
        string name = TextOf(item.GetProperty("Key"));
        if (
            name.StartsWith(Encoding.UTF8.GetString(CompareExchangeKey.GuardPrefix), StringComparison.OrdinalIgnoreCase)
        )
        {
            operation.LeaveOut("Atomic guards", count: 1);
            return;
        }

        byte[] key = CompareExchangeKeyParameter.Check(name, isForStore: true);
        var value = item.GetProperty("Value");
        byte[] json = Encoding.UTF8.GetBytes(
            value.ValueKind == JsonValueKind.String ? value.GetString()! : value.GetRawText()
        );
        for (int attempt = 1; ; attempt++)
        {
            var outcome = await ProposeAsync(() => EncodeValue(key, json));
            Require(outcome);
            if (outcome[0].Status != OperationStatus.Mismatched)
            {
                break;
            }

            outcome[0].Document?.Dispose();
            await context.Node.Consensus.ReadBarrierAsync(); // so that a lagging member reads the index that it has now
            if (attempt == MaxAttempts)
            {
                operation.CompareExchange.Fail();
                operation.Tell($"The compare-exchange value '{name}' is not stored: others change it all the time.");
                return;
            }
        }

        operation.CompareExchange.Add();
    }

    private CommandBuffer EncodeValue(byte[] key, byte[] json)
    {
        long index = 0;
        using (var reader = database.OpenReader())
        {
            if (reader.TryGetCompareExchange(key, out var current))
            {
                index = current.Etag;
                current.Dispose();
            }
        }

        using var parser = DocumentParser.Rent();
        return CompareExchangeValue.TryParse(parser, json, out var value, out var error)
            ? CommandEncoder.PutCompareExchange(database.Number, key, index, value, Key())
            : throw RavenErrors.Refuse(error);
    }

    private async ValueTask StoreIdentityAsync(JsonElement identity)
    {
        byte[] name = IdentityRoutes.CheckName(TextOf(identity.GetProperty("Key")));
        var value = identity.GetProperty("Value");
        string digits = value.ValueKind == JsonValueKind.String ? TextOf(value) : value.GetRawText();
        if (
            !long.TryParse(digits, NumberStyles.None, CultureInfo.InvariantCulture, out long last)
            || last > IdentityRoutes.MaxValue
        )
        {
            throw new FormatException("The value of an identity is out of range.");
        }

        // An identity is never lowered: its numbers are in use here.
        Require(
            await ProposeAsync(() => CommandEncoder.IdentitySeed(database.Number, name, last, force: false, Key()))
        );
        operation.Identities.Add();
    }

    private async ValueTask StoreSubscriptionAsync(JsonElement subscription)
    {
        if (context.Node.FormatLevel.Level < FormatLevel.Subscriptions)
        {
            operation.LeaveOut("Subscriptions, until the upgrade is ended", count: 1);
            return;
        }

        string[] members = [.. context.Node.Consensus.View.Members.Select(static member => member.Tag)];
        var key = Key();
        Require(await ProposeAsync(() => DumpedSubscription.Encode(subscription, database, members, key)));
        operation.Subscriptions.Add();
        if (DumpedSubscription.HasPosition(subscription))
        {
            operation.Tell(
                $"Subscription '{subscription.GetProperty("SubscriptionName").GetString()}' begins with the first "
                    + "document, unless it existed: its position in the dump is of another database."
            );
        }
    }

    private async ValueTask StoreIndexAsync(JsonElement index)
    {
        if (
            !index.TryGetProperty("IndexDefinition", out var definition)
            || !index.TryGetProperty("Type", out var type)
            || type.GetString() is not ("Map" or "MapReduce" or "JavaScriptMap" or "JavaScriptMapReduce")
        )
        {
            operation.LeaveOut("Indexes of queries", count: 1); // queries create them again
            return;
        }

        try
        {
            await _indexes.DefineAsync(http, database, definition, Key());
            operation.Indexes.Add();
        }
        catch (RefusedException refused) when (refused.Status < StatusCodes.Status503ServiceUnavailable)
        {
            operation.Indexes.Fail();
            operation.Tell(refused.Message);
        }
    }

    private static string TextOf(JsonElement value) =>
        value.GetString() ?? throw new FormatException("A text is null.");

    private Task<CommandOutcome> ProposeAsync(Func<CommandBuffer> encode) =>
        ProposalRetry.ProposePatientlyAsync(context.Node.Consensus, encode, context.Time, operation.Killed);

    private static void Require(in CommandOutcome outcome)
    {
        if (outcome.Rejection is { } rejection)
        {
            throw RavenErrors.Refuse(rejection);
        }
    }

    private IdempotencyKey Key() =>
        context.Node.Consensus.View.Members.Count > 1 ? IdempotencyKey.Create() : IdempotencyKey.None;
}
