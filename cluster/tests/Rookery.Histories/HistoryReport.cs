using System.Globalization;

namespace Rookery.Histories;

/// <summary>The result of all checks of a history.</summary>
/// <param name="Operations">The number of operations.</param>
/// <param name="Unknown">The number of operations with an unknown outcome.</param>
/// <param name="Searched">The number of documents for which the search without etags found an order.</param>
/// <param name="Undecided">The number of documents whose search was abandoned.</param>
/// <param name="SearchedShare">The share of operations on single documents that these orders contain, from 0 to 1. The
/// search of a document stops before too many operations have an unknown outcome.</param>
/// <param name="Violations">The violations, one sentence each.</param>
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
    /// The minimum share to search. For the other operations, only the store's own etags confirm the order.
    /// </summary>
    public const double LeastShare = 0.8;

    /// <summary>Whether there is no violation and enough was searched.</summary>
    public bool IsProof => Violations.Count == 0 && Undecided == 0 && SearchedShare >= LeastShare;

    /// <summary>Checks the order of etags, searches each document, and looks for cycles among transactions.</summary>
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
