using System.Text;
using Rookery.Documents.Commands;
using Rookery.Documents.Consensus;
using Rookery.Documents.Databases;

namespace Rookery.Documents.Apply;

/// <summary>Compares the versions of documents with those that commands expect.</summary>
internal static class ExpectedVersion
{
    /// <summary>Compares the change vector of a document with the expected one.</summary>
    /// <param name="context">The command.</param>
    /// <param name="writtenId">The document's id, as the command has it.</param>
    /// <param name="expected">The expected change vector.</param>
    /// <param name="previous">The document.</param>
    /// <returns>The conflict, or null.</returns>
    public static Rejection? Check(
        ApplyContext context,
        ReadOnlySpan<byte> writtenId,
        in ExpectedChangeVector expected,
        in Document previous
    )
    {
        if (expected.Expectation == Expectation.Anything)
        {
            return null;
        }

        string? actual = previous.Exists ? context.Database.Database.ChangeVectorOf(previous.Etag) : null;
        string wanted =
            expected.Expectation == Expectation.MustNotExist ? string.Empty : Encoding.UTF8.GetString(expected.Text);
        if (string.Equals(actual ?? string.Empty, wanted, StringComparison.Ordinal))
        {
            return null;
        }

        string id = Encoding.UTF8.GetString(writtenId);
        return new Rejection(RejectionKind.ConcurrencyConflict, DescribeConflict(id, wanted, actual))
        {
            DocumentId = id,
            Expected = wanted,
            Actual = actual,
            Database = context.Database.Database.Name,
        };
    }

    private static string DescribeConflict(string id, string wanted, string? actual)
    {
        if (actual is null)
        {
            return $"Document {id} does not exist, but was expected to have the change vector '{wanted}'.";
        }

        if (wanted.Length == 0)
        {
            return $"Document {id} exists with the change vector '{actual}', but was expected not to exist.";
        }

        return $"Document {id} has the change vector '{actual}', but was expected to have '{wanted}'.";
    }
}
