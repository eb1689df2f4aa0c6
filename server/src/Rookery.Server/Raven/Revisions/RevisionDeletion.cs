using System.Text.Json;
using Rookery.Documents.Commands;
using Rookery.Server.Raven.Documents;

namespace Rookery.Server.Raven.Revisions;

/// <summary>The body of DELETE admin/revisions.</summary>
internal sealed record RevisionDeletion
{
    private const int MaxDocuments = 1024;

    private static readonly string[] Members =
    [
        "DocumentIds",
        "RemoveForceCreatedRevisions",
        "RevisionsChangeVectors",
        "From",
        "To",
    ];

    /// <summary>Ids of the documents.</summary>
    public List<byte[]> Ids { get; private set; } = [];

    /// <summary>Whether forced revisions are removed too.</summary>
    public bool IncludesForced { get; private set; }

    /// <summary>If not empty: change vectors of the revisions to remove.</summary>
    public List<string> ChangeVectors { get; private set; } = [];

    /// <summary>Time of the first revision to remove, in UTC ticks.</summary>
    public long FromTicks { get; private set; }

    /// <summary>Time of the last revision to remove, in UTC ticks.</summary>
    public long ToTicks { get; private set; } = long.MaxValue;

    /// <summary>Reads the body.</summary>
    /// <exception cref="RefusedException">It is malformed (400), or has an unknown member (501).</exception>
    public static RevisionDeletion Read(ReadOnlySpan<byte> body)
    {
        var deletion = new RevisionDeletion();
        JsonBody.Read(
            body,
            (ref Utf8JsonReader json) =>
            {
                JsonBody.ForEachMember(ref json, deletion.ReadMember);
                return true;
            }
        );
        if (deletion.Ids.Count is 0 or > MaxDocuments)
        {
            throw RefusedException.BadRequest(
                $"'DocumentIds' must name 1 to {MaxDocuments} documents. Nothing was removed."
            );
        }

        bool hasTime = deletion.FromTicks != 0 || deletion.ToTicks != long.MaxValue;
        if (deletion.ChangeVectors.Count > 0 && (deletion.Ids.Count > 1 || hasTime))
        {
            throw RefusedException.BadRequest(
                "'RevisionsChangeVectors' is for one document, without 'From' and 'To'. Nothing was removed."
            );
        }

        if (deletion.ChangeVectors.Contains(""))
        {
            throw RefusedException.BadRequest("'RevisionsChangeVectors' has an empty text. Nothing was removed.");
        }

        return deletion.FromTicks <= deletion.ToTicks && deletion.ChangeVectors.Count <= RevisionCommand.MaxEtags
            ? deletion
            : throw RefusedException.BadRequest(
                $"'From' must not be later than 'To', and there are at most {RevisionCommand.MaxEtags} change vectors. "
                    + "Nothing was removed."
            );
    }

    private void ReadMember(string member, ref Utf8JsonReader value)
    {
        if (value.TokenType == JsonTokenType.Null)
        {
            return;
        }

        switch (member)
        {
            case "DocumentIds":
                Ids = [.. JsonBody.ReadTexts(ref value, member).Select(DocumentIdParameter.Check)];
                break;
            case "RemoveForceCreatedRevisions":
                IncludesForced = value.TokenType switch
                {
                    JsonTokenType.True => true,
                    JsonTokenType.False => false,
                    _ => throw RefusedException.BadRequest($"'{member}' must be true or false."),
                };
                break;
            case "RevisionsChangeVectors":
                ChangeVectors = JsonBody.ReadTexts(ref value, member);
                break;
            case "From":
                FromTicks = GetRevisions.ReadTicks(member, JsonBody.ReadText(ref value, member)!);
                break;
            case "To":
                ToTicks = GetRevisions.ReadTicks(member, JsonBody.ReadText(ref value, member)!);
                break;
            default:
                throw JsonBody.NotSupported(member, "the body of DELETE admin/revisions", Members);
        }
    }
}
