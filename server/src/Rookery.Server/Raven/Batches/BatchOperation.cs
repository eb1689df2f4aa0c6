using System.Text;
using System.Text.Json;
using Rookery.Documents.Commands;
using Rookery.Documents.Consensus;
using Rookery.Documents.Databases;
using Rookery.Json;
using Rookery.Platform;
using Rookery.Server.Raven.Counters;
using Rookery.Server.Raven.Documents;

namespace Rookery.Server.Raven.Batches;

/// <summary>The parts of one batch operation that are needed to write its result.</summary>
/// <param name="Kind">Kind of operation.</param>
/// <param name="Id">The id in the request.</param>
/// <param name="IsJsonPatch">Whether a patch is a JSON Patch.</param>
/// <param name="Attachment">The attachment that the operation changes, or null.</param>
/// <param name="MayBeRepeated">Whether applying the operation twice in a row has the same effect as once.</param>
internal readonly record struct BatchOperation(
    OperationKind Kind,
    string Id,
    bool IsJsonPatch,
    BatchAttachment? Attachment,
    bool MayBeRepeated
)
{
    /// <summary>The counter's name; null for an operation on a document.</summary>
    public string? Counter { get; init; }

    /// <summary>Whether this is the first operation of a Counters command.</summary>
    public bool StartsGroup { get; init; }

    /// <summary>Whether this is the last operation of a Counters command.</summary>
    public bool EndsGroup { get; init; }

    /// <summary>Whether this is a patch that may store or delete other documents.</summary>
    public bool ChangesOtherDocuments { get; init; }

    /// <summary>Returns the operations of a batch, in order.</summary>
    public static BatchOperation[] ReadAll(in ParsedBatch batch)
    {
        var operations = new BatchOperation[batch.Count];
        var reader = new CommandReader(batch.Command.Written.Span);
        for (int i = 0; i < operations.Length; i++)
        {
            operations[i] = Read(ref reader, i == 0 ? default : operations[i - 1]);
            operations[i] = operations[i] with { MayBeRepeated = operations[i].MayBeRepeated && !batch.IsClusterWide };
        }

        return operations;
    }

    /// <summary>Whether applying a batch without a key twice in a row has the same effect as once.</summary>
    public static bool MayAllBeRepeated(BatchOperation[] operations) =>
        Array.TrueForAll(operations, static operation => operation.MayBeRepeated);

    /// <summary>
    /// Whether the next operation removes the source of this one, and both have one element of "Results".
    /// </summary>
    public bool IsMoveBetweenDocuments => Attachment?.Source is { Moves: true, Renames: false };

    /// <summary>Writes the operation's element of "Results".</summary>
    /// <param name="json">Receives the element.</param>
    /// <param name="database">The database.</param>
    /// <param name="result">The operation's result.</param>
    /// <param name="mayRead">Whether the caller may know more of a stored document than its change vector.</param>
    /// <param name="removal">With <see cref="IsMoveBetweenDocuments"/>: the result of the next operation.</param>
    public void WriteResult(
        Utf8JsonWriter json,
        Database database,
        in OperationResult result,
        bool mayRead,
        in OperationResult removal = default
    )
    {
        json.WriteStartObject();
        switch (Kind)
        {
            case OperationKind.Put:
                json.WriteString("Type"u8, "PUT"u8);
                json.WriteString("@id"u8, result.Id ?? Id);
                json.WriteString("@collection"u8, DocumentJson.CollectionName(result.Collection));
                json.WriteString("@change-vector"u8, database.ChangeVectorOf(result.Etag));
                json.WriteString("@last-modified"u8, DocumentJson.Date(result.LastModifiedTicks));
                WriteFlags(json, result, mayRead);
                break;
            case OperationKind.Revision:
                WriteForced(json, database, result, mayRead);
                break;
            case OperationKind.Delete:
                json.WriteString("Type"u8, "DELETE"u8);
                json.WriteString("Id"u8, Id);
                json.WriteBoolean("Deleted"u8, result.Status == OperationStatus.Deleted);
                json.WriteNull("ChangeVector"u8);
                break;
            case OperationKind.CompareExchangePut or OperationKind.CompareExchangeDelete:
                json.WriteString(
                    "Type"u8,
                    Kind == OperationKind.CompareExchangePut ? "CompareExchangePUT"u8 : "CompareExchangeDELETE"u8
                );
                json.WriteString("Key"u8, Id);
                json.WriteNumber("Index"u8, result.Etag);
                break;
            case OperationKind.AttachmentCopy:
                Attachment!.WriteCopied(json, result.Id ?? Id, database, result, removal);
                break;
            case OperationKind.AttachmentPut or OperationKind.AttachmentDelete:
                Attachment!.WriteResult(json, Kind, result.Id ?? Id, database, result);
                break;
            default:
                json.WriteString("Type"u8, IsJsonPatch ? "JsonPatch"u8 : "PATCH"u8);
                json.WriteString("Id"u8, result.Id ?? Id);
                json.WriteString("PatchStatus"u8, PatchResult.StatusName(result.Status));
                PatchResult.WriteMembers(json, result, database);
                break;
        }

        json.WriteEndObject();
    }

    // Clients replace the metadata of the document by these members, if a revision was created.
    private void WriteForced(Utf8JsonWriter json, Database database, in OperationResult result, bool mayRead)
    {
        json.WriteString("Type"u8, "ForceRevisionCreation"u8);
        json.WriteBoolean("RevisionCreated"u8, result.Status == OperationStatus.Stored);
        json.WriteString("@id"u8, mayRead ? result.Id ?? Id : Id);
        json.WriteString("@change-vector"u8, database.ChangeVectorOf(result.Etag));
        if (mayRead)
        {
            json.WriteString("@collection"u8, DocumentJson.CollectionName(result.Collection));
            json.WriteString("@last-modified"u8, DocumentJson.Date(result.LastModifiedTicks));
            WriteFlags(json, result, mayRead);
        }
    }

    // Clients take the flags for those of the document.
    private static void WriteFlags(Utf8JsonWriter json, in OperationResult result, bool mayRead)
    {
        if (!mayRead || (result.High & OperationResult.HasRevisions) == 0)
        {
            return;
        }

        string attachments = (result.High & OperationResult.HasAttachments) == 0 ? "" : "HasAttachments, ";
        string counters = (result.High & OperationResult.HasCounters) == 0 ? "" : "HasCounters, ";
        json.WriteString("@flags"u8, $"{attachments}{counters}HasRevisions");
    }

    /// <summary>
    /// Writes the part of "Results" that an operation on a counter has: the operations of one Counters command share
    /// one element.
    /// </summary>
    /// <param name="answer">Receives the JSON.</param>
    /// <param name="database">The database.</param>
    /// <param name="result">The operation's result.</param>
    /// <param name="mayRead">Whether the caller may know the values.</param>
    /// <param name="isFirst">Whether the element has no detail of a counter yet.</param>
    /// <returns>Whether the element still has no detail of a counter.</returns>
    public bool WriteCounterResult(
        ResponseBuffer answer,
        Database database,
        in OperationResult result,
        bool mayRead,
        bool isFirst
    )
    {
        if (StartsGroup)
        {
            answer.Write("{\"Type\":\"Counters\",\"Id\":"u8);
            JsonText.WriteString(answer, Encoding.UTF8.GetBytes(Id));
            answer.Write(",\"CountersDetail\":{\"Counters\":["u8);
            isFirst = true;
        }

        isFirst &= !CounterJson.TryWriteResult(
            answer,
            new BatchedCounter(Kind, Id, Counter!),
            result,
            isFirst,
            mayRead
        );
        if (EndsGroup)
        {
            answer.Write("]},\"DocumentChangeVector\":"u8);
            // Clients take this change vector for that of the version that they loaded. If the document was not
            // written, this change vector would let them overwrite a version that they have not seen.
            answer.Write(
                result.High != OperationResult.Rewritten
                    ? "null"u8
                    : Encoding.ASCII.GetBytes($"\"{database.ChangeVectorOf(result.Etag)}\"").AsSpan()
            );
            answer.Write("}"u8);
        }

        return isFirst;
    }

    private static BatchOperation Read(ref CommandReader reader, in BatchOperation previous)
    {
        Invariant.Holds(reader.TryReadOperation(out var operation), "a batch has as many operations as it counts");
        bool isCounter = operation.IsOfCounter;
        string id = isCounter && !operation.StartsGroup ? previous.Id : Encoding.UTF8.GetString(operation.Id.Written);
        return new BatchOperation(
            operation.Kind,
            id,
            operation.Kind == OperationKind.Patch && operation.Patch.IsJsonPatch,
            BatchAttachment.Of(operation),
            RepeatableWrite.IsOperation(operation.Kind, id, operation.Expected)
        )
        {
            Counter = isCounter ? Encoding.UTF8.GetString(operation.Counter.Written) : null,
            StartsGroup = operation.StartsGroup,
            EndsGroup = operation.EndsGroup,
            ChangesOtherDocuments = operation.Kind == OperationKind.Patch && operation.Patch.ReservedEtags > 0,
        };
    }
}
