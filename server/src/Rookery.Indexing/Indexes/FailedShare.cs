namespace Rookery.Indexing.Indexes;

/// <summary>Decides when so many documents have failed that an index stops.</summary>
internal static class FailedShare
{
    // With fewer documents, the share of failed ones does not stop the index.
    private const int JudgedFrom = 100;
    private const int MaxPercent = 15;

    /// <summary>Returns why an index stops, as a sentence; null if it continues.</summary>
    /// <param name="failed">Number of documents that failed. Not the number of errors: a group that cannot be reduced
    /// adds one at each change of its rows.</param>
    /// <param name="documents">Number of documents that were indexed or failed since the index was opened, or the
    /// number of documents in the index, whichever is higher. Without the second number, one document that fails
    /// whenever it is stored would stop a large index.</param>
    public static string? WhyStopped(long failed, long documents) =>
        documents >= JudgedFrom && failed * 100 > documents * MaxPercent
            ? $"{failed} of {documents} documents could not be indexed, so the index stopped. Correct its definition, "
                + "or reset it."
            : null;
}
