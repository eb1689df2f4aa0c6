using System.Buffers.Binary;
using System.Text;
using System.Text.Json;
using Microsoft.AspNetCore.Http;
using Rookery.Documents.Commands;
using Rookery.Documents.Consensus;
using Rookery.Documents.Databases;
using Rookery.Documents.Ids;
using Rookery.Documents.Nodes;
using Rookery.Documents.Revisions;
using Rookery.Server.Raven.Documents;

namespace Rookery.Server.Raven.Revisions;

/// <summary>Removes revisions of named documents, and reverts named documents to revisions.</summary>
internal sealed class ChangeRevisions(ServerContext context)
{
    private const int MaxBodyBytes = 4 << 20;
    private const int MaxDocuments = 1024;

    /// <summary>
    /// DELETE admin/revisions with {"DocumentIds":[…],"RemoveForceCreatedRevisions":false} and optionally
    /// RevisionsChangeVectors of one document, or From and To.
    /// </summary>
    public async Task DeleteAsync(HttpContext http, Database database)
    {
        RequireLevel();
        var key = IdempotencyHeader.ReadOrRequestId(http);
        RevisionDeletion deletion;
        using (var body = await RequestBody.ReadAsync(http, MaxBodyBytes, context.LargeRequests, BodyUse.Objects))
        {
            deletion = RevisionDeletion.Read(body.Span);
        }

        RefuseOfOtherDocuments(database, deletion);

        // Of very many revisions, one command removes a part.
        long deleted = 0;
        List<(byte[] Id, long First)> left = [.. deletion.Ids.Select(static id => (id, 0L))];
        int most = left.Count;
        for (var commandKey = key; left.Count > 0; commandKey = KeyOfNext())
        {
            var part = left[..Math.Min(most, left.Count)];
            var outcome = await HttpProposal.ProposeAsync(
                context,
                http,
                EncodeDelete(database, deletion, part, commandKey)
            );
            if (outcome.Rejection is { Kind: RejectionKind.TooLarge } && part.Count > 1)
            {
                most = part.Count / 2;
                continue;
            }

            if (outcome.Rejection is { } rejection)
            {
                await RavenErrors.WriteAsync(http, WithProgress(rejection, deleted), key.IsPresent);
                return;
            }

            deleted += Enumerable.Range(0, part.Count).Sum(i => outcome[i].Low);
            left =
            [
                .. part.Select((entry, i) => (entry.Id, outcome[i].High)).Where(static entry => entry.High != 0),
                .. left[part.Count..],
            ];
            http.RequestAborted.ThrowIfCancellationRequested();
        }

        IdempotencyHeader.WriteHorizon(http, database);
        await JsonResponse.SendAsync(http, json => json.WriteNumber("TotalDeletes"u8, deleted));
    }

    // As in RavenDB: the change vector of no revision is skipped, because an earlier request may have removed the
    // revision, and that of another document's revision is refused.
    private static void RefuseOfOtherDocuments(Database database, RevisionDeletion deletion)
    {
        if (deletion.ChangeVectors.Count == 0)
        {
            return;
        }

        string id = Encoding.UTF8.GetString(deletion.Ids[0]);
        using var reader = database.OpenReader();
        using var revisions = new RevisionReader(reader);
        foreach (string changeVector in deletion.ChangeVectors)
        {
            long etag = GetRevisions.EtagOf(database, changeVector);
            if (
                etag != 0
                && revisions.TryFind(etag)
                && Encoding.UTF8.GetString(revisions.View.Id) is var owner
                && !IgnoredCase.OfNames.Equals(owner, id)
            )
            {
                throw RefusedException.BadRequest(
                    $"The revision with the change vector '{changeVector}' is one of document {owner}, not of {id}. "
                        + "Nothing was removed; GET revisions lists those of a document."
                );
            }
        }
    }

    private static Rejection WithProgress(Rejection rejection, long deleted) =>
        deleted == 0
            ? rejection
            : rejection with
            {
                Message =
                    $"{deleted} revisions were removed before a further part of this request was refused. Repeat the "
                    + $"request to remove the others. About that part: {rejection.Message}",
            };

    /// <summary>POST revisions/revert/docs with {"IdToChangeVector":{ID:CHANGE VECTOR,…}}: all or none.</summary>
    public async Task RevertAsync(HttpContext http, Database database)
    {
        RequireLevel();
        var key = IdempotencyHeader.ReadOrRequestId(http);
        CommandBuffer command;
        using (var body = await RequestBody.ReadAsync(http, MaxBodyBytes, context.LargeRequests, BodyUse.Objects))
        {
            command = EncodeRevert(database, body.Span, key);
        }

        var outcome = await HttpProposal.ProposeAsync(context, http, command);
        if (outcome.Rejection is { } rejection)
        {
            await RavenErrors.WriteAsync(http, rejection, key.IsPresent);
            return;
        }

        IdempotencyHeader.WriteHorizon(http, database);
        await EmptyResponse.AnswerNoContent(http);
    }

    /// <summary>Returns the refusal below the format level of revisions.</summary>
    public static RefusedException BelowLevel() =>
        RefusedException.NotSupported(
            "Revisions are not supported while members may return to the previous version, which cannot read them. "
                + "When all members run the new version, end the upgrade: `rookery cluster finalize-upgrade`."
        );

    private void RequireLevel()
    {
        if (context.Node.FormatLevel.Level < FormatLevel.Revisions)
        {
            throw BelowLevel();
        }
    }

    private static CommandBuffer EncodeDelete(
        Database database,
        RevisionDeletion deletion,
        List<(byte[] Id, long First)> documents,
        IdempotencyKey key
    )
    {
        byte[] etags = new byte[sizeof(long) * deletion.ChangeVectors.Count];
        for (int i = 0; i < deletion.ChangeVectors.Count; i++)
        {
            BinaryPrimitives.WriteInt64LittleEndian(
                etags.AsSpan(sizeof(long) * i),
                GetRevisions.EtagOf(database, deletion.ChangeVectors[i])
            );
        }

        using var writer = new BatchWriter(CommandKind.Batch, database.Number, key);
        foreach (var (id, first) in documents)
        {
            writer.Revision(
                id,
                new RevisionCommand
                {
                    Action = RevisionAction.Delete,
                    Etag = first,
                    IncludesForced = deletion.IncludesForced,
                    FromTicks = deletion.FromTicks,
                    ToTicks = deletion.ToTicks,
                    Etags = etags,
                }
            );
        }

        return writer.Complete();
    }

    private IdempotencyKey KeyOfNext() =>
        context.Node.Consensus.View.Members.Count > 1 ? IdempotencyKey.Create() : IdempotencyKey.None;

    private static CommandBuffer EncodeRevert(Database database, ReadOnlySpan<byte> body, IdempotencyKey key)
    {
        using var writer = new BatchWriter(CommandKind.Batch, database.Number, key);
        JsonBody.Read(
            body,
            (ref Utf8JsonReader json) =>
            {
                JsonBody.ForEachMember(
                    ref json,
                    (string member, ref Utf8JsonReader value) =>
                    {
                        if (member is not "IdToChangeVector")
                        {
                            JsonBody.RequireNull(
                                ref value,
                                member,
                                "the body of revisions/revert/docs",
                                "IdToChangeVector"
                            );
                            return;
                        }

                        JsonBody.ForEachMember(
                            ref value,
                            (string id, ref Utf8JsonReader changeVector) =>
                                Add(writer, database, id, JsonBody.ReadText(ref changeVector, id)),
                            "'IdToChangeVector'"
                        );
                    }
                );
                return true;
            }
        );
        return writer.Count > 0
            ? writer.Complete()
            : throw RefusedException.BadRequest(
                "The body must name the documents and the revisions to revert to: {\"IdToChangeVector\":{\"users/1\":"
                    + "\"A:7-…\"}}."
            );
    }

    private static void Add(BatchWriter writer, Database database, string id, string? changeVector)
    {
        if (writer.Count == MaxDocuments)
        {
            throw RefusedException.BadRequest(
                $"revisions/revert/docs reverts at most {MaxDocuments} documents at once. Nothing was stored; send "
                    + "several requests."
            );
        }

        long etag = string.IsNullOrEmpty(changeVector) ? 0 : GetRevisions.EtagOf(database, changeVector);
        if (etag == 0)
        {
            throw RefusedException.BadRequest(
                $"'{changeVector}' is the change vector of no revision of this database, so document {id} cannot be "
                    + "reverted to it. Nothing was stored; GET revisions lists the revisions of a document."
            );
        }

        writer.Revision(
            DocumentIdParameter.Check(id),
            new RevisionCommand { Action = RevisionAction.Revert, Etag = etag }
        );
    }
}
