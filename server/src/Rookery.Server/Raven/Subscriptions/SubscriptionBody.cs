using System.Text;
using System.Text.Json;
using Rookery.Documents.Databases;
using Rookery.Documents.Subscriptions;
using Rookery.Queries.Language;
using Rookery.Queries.Subscriptions;
using Rookery.Server.Raven.Documents;
using Rookery.Server.Raven.Queries;

namespace Rookery.Server.Raven.Subscriptions;

/// <summary>The body of a request that defines or changes a data subscription.</summary>
internal sealed class SubscriptionBody
{
    private const string Subject = "the body of a subscription";

    private static readonly string[] Members =
    [
        "Name",
        "Query",
        "ChangeVector",
        "Disabled",
        "MentorNode",
        "PinToMentorNode",
        "Id",
        "CreateNew",
    ];

    /// <summary>The name; null if there is none.</summary>
    public string? Name { get; private set; }

    /// <summary>The query; null if there is none.</summary>
    public string? Query { get; private set; }

    /// <summary>Number of the subscription to change; 0 if it is found by its name.</summary>
    public long Id { get; private set; }

    /// <summary>Whether an update creates a missing subscription.</summary>
    public bool CreatesNew { get; private set; }

    private string? ChangeVector { get; set; }

    private string? MentorNode { get; set; }

    private bool? IsPinned { get; set; }

    private bool? IsDisabled { get; set; }

    /// <summary>Reads the body.</summary>
    /// <exception cref="RefusedException">A member is not supported (501), or its value is not valid (400).</exception>
    public static SubscriptionBody Read(ReadOnlySpan<byte> body) =>
        JsonBody.Read(
            body,
            static (ref Utf8JsonReader json) =>
            {
                var read = new SubscriptionBody();
                JsonBody.ForEachMember(ref json, read.ReadMember);
                return read;
            }
        );

    /// <summary>Checks the values, and returns the command without its name.</summary>
    /// <param name="database">The database.</param>
    /// <param name="members">Tags of the members.</param>
    /// <param name="query">The query in UTF-8.</param>
    /// <param name="mentor">The mentor in ASCII.</param>
    /// <exception cref="RefusedException">A value is not valid: 400; the query is not supported: 501.</exception>
    public SubscriptionCommand ToCommand(
        Database database,
        IReadOnlyList<string> members,
        ReadOnlySpan<byte> query,
        ReadOnlySpan<byte> mentor
    )
    {
        if (Name is not null && SubscriptionRecord.NameProblem(Name) is { } problem)
        {
            throw RefusedException.BadRequest(problem);
        }

        CheckQuery();
        if (MentorNode is { Length: > 0 } tag && !members.Contains(tag, StringComparer.Ordinal))
        {
            throw RefusedException.BadRequest(
                $"'MentorNode' is '{tag}', and the members are {string.Join(", ", members)}."
            );
        }

        if (IsPinned is true && MentorNode is not { Length: > 0 })
        {
            throw RefusedException.BadRequest("'PinToMentorNode' needs a 'MentorNode'.");
        }

        var (kind, start) = ReadStart(database);
        return new SubscriptionCommand
        {
            Kind = SubscriptionCommandKind.Put,
            Query = query,
            Mentor = mentor,
            ChangesMentor = MentorNode is not null,
            IsPinned = IsPinned,
            IsDisabled = IsDisabled,
            StartKind = kind,
            Start = start,
        };
    }

    /// <summary>Returns the query in UTF-8; empty if there is none.</summary>
    public byte[] QueryBytes() => Encoding.UTF8.GetBytes(Query ?? string.Empty);

    /// <summary>Returns the mentor in ASCII; empty if there is none.</summary>
    public byte[] MentorBytes() => Encoding.ASCII.GetBytes(MentorNode ?? string.Empty);

    private void CheckQuery()
    {
        if (Query is null)
        {
            return;
        }

        if (Encoding.UTF8.GetByteCount(Query) > SubscriptionRecord.MaxQueryBytes)
        {
            throw RefusedException.BadRequest(
                $"The query of a subscription takes at most {SubscriptionRecord.MaxQueryBytes >> 10} KiB."
            );
        }

        try
        {
            var criteria = SubscriptionCriteria.Compile(Query);
            if (criteria.Includes.Count > IncludePaths.MaxPaths)
            {
                throw RefusedException.BadRequest(
                    $"A subscription takes at most {IncludePaths.MaxPaths} include paths; this query has "
                        + $"{criteria.Includes.Count}."
                );
            }
        }
        catch (QueryException refusal)
        {
            throw QueryRefusal.Of(refusal, Query);
        }
    }

    private (SubscriptionStart Kind, long Start) ReadStart(Database database)
    {
        switch (ChangeVector)
        {
            case null or "" or "DoNotChange":
                return (SubscriptionStart.Unchanged, 0);
            case "BeginningOfTime":
                return (SubscriptionStart.Etag, 0);
            case "LastDocument":
                return (SubscriptionStart.LastDocument, 0);
        }

        string end = "-" + database.HistoryId;
        bool isKnown =
            ChangeVector.StartsWith("A:", StringComparison.Ordinal)
            && ChangeVector.EndsWith(end, StringComparison.Ordinal);
        if (
            isKnown
            && long.TryParse(
                ChangeVector.AsSpan(2, ChangeVector.Length - 2 - end.Length),
                System.Globalization.NumberStyles.None,
                System.Globalization.CultureInfo.InvariantCulture,
                out long etag
            )
        )
        {
            return (SubscriptionStart.Etag, etag);
        }

        throw RefusedException.BadRequest(
            $"'ChangeVector' must be BeginningOfTime, LastDocument, DoNotChange or a change vector of this database "
                + $"(A:NUMBER{end}), not '{ChangeVector}'."
        );
    }

    private void ReadMember(string name, ref Utf8JsonReader value)
    {
        switch (name)
        {
            case "Name":
                Name = JsonBody.ReadText(ref value, name) is { Length: > 0 } text ? text : null;
                break;
            case "Query":
                Query = JsonBody.ReadText(ref value, name) is { Length: > 0 } query ? query : null;
                break;
            case "ChangeVector":
                ChangeVector = JsonBody.ReadText(ref value, name);
                break;
            case "MentorNode":
                MentorNode = JsonBody.ReadText(ref value, name);
                break;
            case "Disabled":
                IsDisabled = ReadFlag(ref value, name);
                break;
            case "PinToMentorNode":
                IsPinned = ReadFlag(ref value, name);
                break;
            case "CreateNew":
                CreatesNew = ReadFlag(ref value, name) ?? false;
                break;
            case "Id":
                Id = ReadNumber(ref value, name);
                break;
            // Clients resolve these two into the query, and some send them along.
            case "DocumentType" when value.TokenType == JsonTokenType.String:
                break;
            case "DocumentType" or "Includes" when TrySkipEmpty(ref value):
                break;
            case "ArchivedDataProcessingBehavior" when value.TokenType == JsonTokenType.String:
                RefuseArchived(ref value);
                break;
            default:
                JsonBody.RequireNull(ref value, name, Subject, Members);
                break;
        }
    }

    // Moves to the end of an object without members; returns false for other values.
    private static bool TrySkipEmpty(ref Utf8JsonReader value)
    {
        if (value.TokenType != JsonTokenType.StartObject)
        {
            return false;
        }

        var ahead = value;
        if (!ahead.Read() || ahead.TokenType != JsonTokenType.EndObject)
        {
            return false;
        }

        value = ahead;
        return true;
    }

    // A subscription sends no archived documents, as by default in RavenDB.
    private static void RefuseArchived(ref Utf8JsonReader value)
    {
        if (value.GetString() is not "ExcludeArchived")
        {
            throw JsonBody.NotSupported("ArchivedDataProcessingBehavior", Subject, Members);
        }
    }

    private static bool? ReadFlag(ref Utf8JsonReader value, string name) =>
        value.TokenType switch
        {
            JsonTokenType.True => true,
            JsonTokenType.False => false,
            JsonTokenType.Null => null,
            _ => throw RefusedException.BadRequest($"'{name}' must be true or false."),
        };

    private static long ReadNumber(ref Utf8JsonReader value, string name)
    {
        if (value.TokenType == JsonTokenType.Null)
        {
            return 0;
        }

        return value.TokenType == JsonTokenType.Number && value.TryGetInt64(out long number) && number >= 0
            ? number
            : throw RefusedException.BadRequest($"'{name}' must be a whole number from 0.");
    }
}
