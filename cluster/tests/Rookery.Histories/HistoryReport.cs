using System.Globalization;

namespace Rookery.Histories;

/// <summary>What all checks together say of a history.</summary>
/// <param name="Operations">How many operations it has.</param>
/// <param name="Unknown">How many have an unknown outcome.</param>
/// <param name="Searched">For how many documents an order was searched and found without their etags.</param>
/// <param name="Undecided">For how many the search was given up.</param>
/// <param name="SearchedShare">Which share of the operations on single documents, from 0 to 1, an order was found for
/// in that way: the search of a document ends before too much is unknown.</param>
/// <param name="Violations">What is wrong, a sentence each.</param>
public sealed record HistoryReport(
    int Operations,
    int Unknown,
    int Searched,
    int Undecided,
    double SearchedShare,
    IReadOnlyList<string> Violations
)
{
    /// <summary>
    /// The least share to search: of what is left out, only the etags that the store itself tells are known to be in
    /// order.
    /// </summary>
    public const double LeastShare = 0.8;

    /// <summary>Whether nothing is wrong, and enough was searched to say so.</summary>
    public bool IsProof => Violations.Count == 0 && Undecided == 0 && SearchedShare >= LeastShare;

    /// <summary>Checks the order of etags, each document by search, and transactions for cycles.</summary>
    public static HistoryReport Of(IReadOnlyList<Operation> history)
    {
        List<string> violations = [];
        violations.AddRange(
            new[] { EtagOrder.FindViolation(history), ListAppends.FindViolation(history) }.OfType<string>()
        );
        int searched = 0,
            undecided = 0,
            inSearches = 0,
            inDocuments = 0;
        foreach (
            var document in history
                .Where(operation => operation.Kind != OperationKind.Transaction)
                .GroupBy(operation => operation.Key, StringComparer.Ordinal)
        )
        {
            var beginning = Linearizability.BeginningOf(document);
            inDocuments += document.Count();
            switch (Linearizability.Check(beginning))
            {
                case Verdict.Linearizable:
                    searched++;
                    inSearches += beginning.Count;
                    break;
                case Verdict.Undecided:
                    undecided++;
                    break;
                default:
                    violations.Add($"no order explains what was read from {document.Key}");
                    break;
            }
        }

        return new HistoryReport(
            history.Count,
            history.Count(operation => operation.Outcome == Outcome.Unknown),
            searched,
            undecided,
            inDocuments == 0 ? 1 : (double)inSearches / inDocuments,
            violations
        );
    }

    /// <inheritdoc/>
    public override string ToString() =>
        string.Join(
            '\n',
            (string[])
                [
                    .. Violations,
                    string.Create(
                        CultureInfo.InvariantCulture,
                        $"{Operations} operations, {Unknown} of unknown outcome; {Searched} documents "
                            + $"searched, {Undecided} given up, with {SearchedShare * 100:F1} % of the operations "
                            + $"on documents; "
                            + $"{(IsProof ? "linearizable" : Violations.Count > 0 ? $"{Violations.Count} violations" : "too little was searched")}"
                    ),
                ]
        );
}
