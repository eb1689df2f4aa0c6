using System.Text;
using Rookery.Documents.Attachments;
using Rookery.Documents.Commands;
using Rookery.Documents.Consensus;
using Rookery.Documents.Databases;
using Rookery.Documents.Ids;
using Rookery.Documents.Revisions;
using Rookery.Documents.Stored;

namespace Rookery.Documents.Apply;

/// <summary>Stores, copies and removes the attachments of documents, without reading the attached bytes.</summary>
/// <param name="rows">Stores the documents.</param>
internal sealed class AttachmentOperations(DocumentRows rows)
{
    private byte[] _list = [];
    private byte[] _listWithoutSource = []; // of a document whose attachment is renamed

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
        if (operation.Kind == OperationKind.AttachmentCopy)
        {
            return Copy(context, id, lowerId, previous, operation, out result);
        }

        result = default;
        var attachment = operation.Attachment;
        ReadOnlySpan<byte> list = previous.Exists ? previous.Head.Attachments : default;
        bool isPut = operation.Kind == OperationKind.AttachmentPut;
        bool exists = AttachmentList.TryFind(list, attachment.Name, out var replaced);
        if (CheckExpected(context, id, attachment.Name, operation.Expected, exists, replaced.Etag) is { } conflict)
        {
            return conflict;
        }

        if (!previous.Exists || (!isPut && !exists))
        {
            return previous.Exists || !isPut ? null : RefuseWithoutDocument(context, id);
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
        if (WriteList(context, id, previous, list, added, isPut, out int length) is { } refusal)
        {
            return refusal;
        }

        if (isPut)
        {
            ContentRows.Add(context, added.Hash, added.Size);
        }

        result = Store(
            context,
            id,
            lowerId,
            previous,
            length,
            isPut ? OperationStatus.Stored : OperationStatus.Deleted
        );
        if (exists)
        {
            // After the document is stored: a revision with the replaced attachment may have added a reference.
            ContentRows.Release(context, replaced.Hash, replaced.Size);
        }

        return null;
    }

    /// <summary>
    /// Gives a document an attachment with the content of another one, which a rename removes. As in RavenDB, nothing
    /// is replaced: the name must be free.
    /// </summary>
    private Rejection? Copy(
        ApplyContext context,
        ReadOnlySpan<byte> id,
        ReadOnlySpan<byte> lowerId,
        in Document previous,
        in Operation operation,
        out OperationResult result
    )
    {
        result = default;
        var copy = operation.Copy;
        Span<byte> lowerSource = stackalloc byte[DocumentId.MaxBytes];
        using var other = copy.Renames
            ? default
            : context.FindDocument(lowerSource[..copy.Source.WriteLowerName(lowerSource)]);
        ReadOnlySpan<byte> list = previous.Exists ? previous.Head.Attachments : default;
        ReadOnlySpan<byte> sources = other.Exists ? other.Head.Attachments : default;
        bool hasSource = AttachmentList.TryFind(copy.Renames ? list : sources, copy.SourceName, out var source);
        if (
            CheckExpected(context, copy.Source.Written, copy.SourceName, operation.Expected, hasSource, source.Etag) is
            { } conflict
        )
        {
            return conflict;
        }

        if (!hasSource)
        {
            string sourceId = Encoding.UTF8.GetString(copy.Source.Written);
            return Refuse(
                context,
                copy.Source.Written,
                RejectionKind.AttachmentMissing,
                $"Document {sourceId} has no attachment '{Encoding.UTF8.GetString(copy.SourceName)}' to copy or move. "
                    + "Nothing of this request was stored; load the document to see its attachments."
            );
        }

        if (!previous.Exists)
        {
            return RefuseWithoutDocument(context, id);
        }

        bool isTaken = AttachmentList.TryFind(list, copy.Name, out var existing);
        if (
            CheckExpected(context, id, copy.Name, ExpectedChangeVector.MustNotExist, isTaken, existing.Etag) is
            { } taken
        )
        {
            return taken;
        }

        id = previous.Head.Id; // keeps its casing
        var added = new AttachmentEntry
        {
            Name = copy.Name,
            ContentType = source.ContentType,
            Hash = source.Hash,
            Size = source.Size,
            Etag = context.Etag,
        };
        if (copy.Renames)
        {
            Reserve(ref _listWithoutSource);
            int kept = AttachmentList.Write(list, copy.SourceName, added, adds: false, _listWithoutSource);
            list = _listWithoutSource.AsSpan(0, kept);
        }

        // Finding the source reads all that stands before the body of its document.
        if (WriteList(context, id, previous, list, added, adds: true, out int length, other.HeadLength) is { } refusal)
        {
            return refusal;
        }

        if (!copy.Renames)
        {
            ContentRows.Add(context, added.Hash, added.Size);
        }

        var details = new CopiedAttachment(added.Hash, Encoding.UTF8.GetString(added.ContentType), added.Size);
        result = Store(context, id, lowerId, previous, length, OperationStatus.Stored) with { Attachment = details };
        return null;
    }

    // Writes the new list into _list, and charges the costs of storing the document with it.
    private Rejection? WriteList(
        ApplyContext context,
        ReadOnlySpan<byte> id,
        in Document previous,
        ReadOnlySpan<byte> list,
        scoped in AttachmentEntry added,
        bool adds,
        out int length,
        long readBytes = 0
    )
    {
        Reserve(ref _list);
        // Each route checks names. If one did not, a name longer than the buffer would stop every member, also in the
        // replay of its log.
        bool fits = !adds || list.Length + AttachmentList.SizeOf(added) <= _list.Length;
        length = fits ? AttachmentList.Write(list, added.Name, added, adds, _list) : int.MaxValue;
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
        long copied = previous.Length + stored + readBytes + RevisionCosts.OfCounters(context, previous.Head);
        return context.Patches.ChargeParts(stored, copied) is { } refusal
            ? refusal with
            {
                DocumentId = Encoding.UTF8.GetString(id),
                Database = context.Database.Database.Name,
            }
            : null;
    }

    private static void Reserve(ref byte[] list)
    {
        if (list.Length == 0)
        {
            list = new byte[2 * AttachmentList.MaxBytes]; // the longest list and one more entry
        }
    }

    private OperationResult Store(
        ApplyContext context,
        ReadOnlySpan<byte> id,
        ReadOnlySpan<byte> lowerId,
        in Document previous,
        int listLength,
        OperationStatus status
    )
    {
        var view = previous.View;
        return rows.Store(
            context,
            id,
            lowerId,
            previous,
            view.Content,
            view.Collection,
            view.ExpiresAtTicks,
            status,
            new DocumentParts { Counters = view.Counters.Stored, Attachments = _list.AsSpan(0, listLength) }
        ) with
        {
            Id = Encoding.UTF8.GetString(id),
        };
    }

    private static Rejection RefuseWithoutDocument(ApplyContext context, ReadOnlySpan<byte> id) =>
        Refuse(
            context,
            id,
            RejectionKind.DocumentMissing,
            $"Document {Encoding.UTF8.GetString(id)} does not exist, so it can have no attachment. Store the "
                + "document first."
        );

    private static Rejection? CheckExpected(
        ApplyContext context,
        ReadOnlySpan<byte> id,
        ReadOnlySpan<byte> name,
        in ExpectedChangeVector expected,
        bool exists,
        long etag
    )
    {
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
                $"The attachment '{Encoding.UTF8.GetString(name)}' of document "
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
