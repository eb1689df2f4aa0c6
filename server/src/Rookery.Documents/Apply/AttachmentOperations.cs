using System.Text;
using Rookery.Documents.Attachments;
using Rookery.Documents.Commands;
using Rookery.Documents.Consensus;
using Rookery.Documents.Databases;
using Rookery.Documents.Stored;

namespace Rookery.Documents.Apply;

/// <summary>Stores and removes the attachments of documents, without reading the attached bytes.</summary>
/// <param name="rows">Stores the documents.</param>
internal sealed class AttachmentOperations(DocumentRows rows)
{
    private byte[] _list = [];

    /// <summary>
    /// Stores or removes an attachment: the document is stored again, with another list. Removing what does not exist
    /// changes nothing, as in RavenDB.
    /// </summary>
    /// <returns>The reason to refuse the whole batch, or null.</returns>
    public Rejection? Change(
        ApplyContext context,
        ReadOnlySpan<byte> id,
        ReadOnlySpan<byte> lowerId,
        in Document previous,
        in Operation operation,
        out OperationResult result
    )
    {
        result = default;
        var attachment = operation.Attachment;
        ReadOnlySpan<byte> list = previous.Exists ? previous.Head.Attachments : default;
        bool isPut = operation.Kind == OperationKind.AttachmentPut;
        bool exists = AttachmentList.TryFind(list, attachment.Name, out var replaced);
        if (CheckExpected(context, id, operation, exists, replaced.Etag) is { } conflict)
        {
            return conflict;
        }

        if (!previous.Exists || (!isPut && !exists))
        {
            return previous.Exists || !isPut
                ? null
                : Refuse(
                    context,
                    id,
                    RejectionKind.DocumentMissing,
                    $"Document {Encoding.UTF8.GetString(id)} does not exist, so it can have no attachment. Store the "
                        + "document first."
                );
        }

        id = previous.Head.Id; // keeps its casing
        var added = new AttachmentEntry
        {
            Name = attachment.Name,
            ContentType = attachment.ContentType,
            Hash = attachment.Hash,
            Size = attachment.Size,
            Etag = context.Etag,
        };
        int maxLength = list.Length + (isPut ? AttachmentList.SizeOf(added) : 0);
        if (_list.Length < maxLength)
        {
            _list = new byte[2 * AttachmentList.MaxBytes]; // the longest list and one more entry
        }

        int length = AttachmentList.Write(list, added.Name, added, isPut, _list);
        if (length > AttachmentList.MaxBytes)
        {
            return Refuse(
                context,
                id,
                RejectionKind.TooLarge,
                $"Document {Encoding.UTF8.GetString(id)} has too many attachments: names, content types and hashes "
                    + $"take more than {AttachmentList.MaxBytes >> 10} KiB. Use a second document."
            );
        }

        long stored = previous.Length + length;
        long copied = previous.Length + stored + RevisionRows.CostOfCounters(context, previous.Head);
        if (context.Patches.ChargeParts(stored, copied) is { } refusal)
        {
            return refusal with { DocumentId = Encoding.UTF8.GetString(id), Database = context.Database.Database.Name };
        }

        if (isPut)
        {
            ContentRows.Add(context, added.Hash, added.Size);
        }

        var view = previous.View;
        result = rows.Store(
            context,
            id,
            lowerId,
            previous,
            view.Content,
            view.Collection,
            view.ExpiresAtTicks,
            isPut ? OperationStatus.Stored : OperationStatus.Deleted,
            new DocumentParts { Counters = view.Counters.Stored, Attachments = _list.AsSpan(0, length) }
        ) with
        {
            Id = Encoding.UTF8.GetString(id),
        };
        if (exists)
        {
            // After the document is stored: a revision with the replaced attachment may have added a reference.
            ContentRows.Release(context, replaced.Hash, replaced.Size);
        }

        return null;
    }

    private static Rejection? CheckExpected(
        ApplyContext context,
        ReadOnlySpan<byte> id,
        in Operation operation,
        bool exists,
        long etag
    )
    {
        var expected = operation.Expected;
        if (expected.Expectation == Expectation.Anything)
        {
            return null;
        }

        string actual = exists ? context.Database.Database.ChangeVectorOf(etag) : string.Empty;
        string wanted =
            expected.Expectation == Expectation.MustNotExist ? string.Empty : Encoding.UTF8.GetString(expected.Text);
        return string.Equals(actual, wanted, StringComparison.Ordinal)
            ? null
            : Refuse(
                context,
                id,
                RejectionKind.ConcurrencyConflict,
                $"The attachment '{Encoding.UTF8.GetString(operation.Attachment.Name)}' of document "
                    + $"{Encoding.UTF8.GetString(id)} {DescribeConflict(wanted, actual)}"
            ) with
            {
                Expected = wanted,
                Actual = actual,
            };
    }

    private static string DescribeConflict(string wanted, string actual)
    {
        string found = actual.Length == 0 ? "does not exist" : $"has the change vector '{actual}'";
        string expected = wanted.Length == 0 ? "not to exist" : $"to have the change vector '{wanted}'";
        return $"{found}, but was expected {expected}.";
    }

    private static Rejection Refuse(ApplyContext context, ReadOnlySpan<byte> id, RejectionKind kind, string message) =>
        new(kind, message) { DocumentId = Encoding.UTF8.GetString(id), Database = context.Database.Database.Name };
}
