using System.Text.Json;
using Rookery.Documents.Commands;
using Rookery.Documents.Databases;
using Rookery.Documents.Subscriptions;
using Rookery.Server.Raven.Subscriptions;

namespace Rookery.Server.Raven.Smuggler;

/// <summary>The definition of a data subscription in a dump, in RavenDB's form.</summary>
internal static class DumpedSubscription
{
    /// <summary>Writes the definition as an object.</summary>
    public static void Write(Utf8JsonWriter json, Database database, SubscriptionRecord subscription)
    {
        json.WriteStartObject();
        json.WriteString("SubscriptionName"u8, subscription.Name);
        json.WriteNumber("SubscriptionId"u8, subscription.Number);
        json.WriteString("Query"u8, subscription.Query);
        json.WriteString(
            "ChangeVectorForNextBatchStartingPoint"u8,
            subscription.Progress == 0 ? null : database.ChangeVectorOf(subscription.Progress)
        );
        json.WriteString("MentorNode"u8, subscription.MentorNode);
        json.WriteBoolean("PinToMentorNode"u8, subscription.IsPinned);
        json.WriteBoolean("Disabled"u8, subscription.IsDisabled);
        json.WriteEndObject();
    }

    /// <summary>Returns whether the subscription had sent documents, so that its position is lost.</summary>
    public static bool HasPosition(JsonElement subscription) =>
        subscription.TryGetProperty("ChangeVectorForNextBatchStartingPoint"u8, out var position)
        && position.ValueKind == JsonValueKind.String
        && !position.ValueEquals(""u8);

    /// <summary>
    /// Encodes the definition. A subscription with the name keeps its position, and a new one begins with the first
    /// document: the position in the dump is of another database.
    /// </summary>
    /// <param name="subscription">The element of the dump.</param>
    /// <param name="database">The database.</param>
    /// <param name="members">Tags of the members.</param>
    /// <param name="key">The idempotency key, or none.</param>
    /// <exception cref="RefusedException">The definition is not valid (400) or not supported (501).</exception>
    public static CommandBuffer Encode(
        JsonElement subscription,
        Database database,
        IReadOnlyList<string> members,
        IdempotencyKey key
    )
    {
        var body = SubscriptionBody.Read(ToBody(subscription, members));
        if (body.Query is null)
        {
            throw RefusedException.BadRequest($"The subscription '{body.Name}' has no query.");
        }

        byte[] query = body.QueryBytes();
        byte[] mentor = body.MentorBytes();
        var values = body.ToCommand(database, members, query, mentor);
        return SubscriptionWriter.Put(
            database.Number,
            key,
            body.Name,
            new SubscriptionCommand
            {
                Kind = values.Kind,
                Query = query,
                Mentor = mentor,
                ChangesMentor = values.ChangesMentor,
                IsPinned = values.IsPinned,
                IsDisabled = values.IsDisabled,
                StartKind = values.StartKind,
                Start = values.Start,
                Creates = true,
            }
        );
    }

    private static byte[] ToBody(JsonElement subscription, IReadOnlyList<string> members) =>
        Databases.ConfigurationProposal.ToJson(json =>
        {
            json.WriteString("Name"u8, Text(subscription, "SubscriptionName"));
            json.WriteString("Query"u8, Text(subscription, "Query"));
            json.WriteBoolean("Disabled"u8, Flag(subscription, "Disabled"));
            // The dump's nodes may have other names than those of this cluster.
            if (Text(subscription, "MentorNode") is { } mentor && members.Contains(mentor, StringComparer.Ordinal))
            {
                json.WriteString("MentorNode"u8, mentor);
                json.WriteBoolean("PinToMentorNode"u8, Flag(subscription, "PinToMentorNode"));
            }
        });

    private static string? Text(JsonElement subscription, string name) =>
        subscription.TryGetProperty(name, out var value) ? value.GetString() : null;

    private static bool Flag(JsonElement subscription, string name) =>
        subscription.TryGetProperty(name, out var value) && value.ValueKind == JsonValueKind.True;
}
