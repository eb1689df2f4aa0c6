namespace Rookery.Histories;

/// <summary>What all checks together say of a history.</summary>
/// <param name="Operations">How many operations it has.</param>
/// <param name="Unknown">How many have an unknown outcome.</param>
/// <param name="Searched">For how many documents an order was searched and found without their etags.</param>
/// <param name="Undecided">For how many the search was given up.</param>
/// <param name="Violations">What is wrong, a sentence each.</param>
public sealed record HistoryReport(int Operations, int Unknown, int Searched, int Undecided, IReadOnlyList<string> Violations)
{
    /// <summary>Checks the order of etags, each document by search, and transactions for cycles.</summary>
    public static HistoryReport Of(IReadOnlyList<Operation> history)
    {
        List<string> violations = [];
        violations.AddRange(new[] { EtagOrder.FindViolation(history), ListAppends.FindViolation(history) }.OfType<string>());
        int searched = 0, undecided = 0;
        foreach (var document in history.Where(operation => operation.Kind != OperationKind.Transaction).GroupBy(operation => operation.Key, StringComparer.Ordinal))
        {
            switch (Linearizability.Check(Linearizability.BeginningOf(document)))
            {
                case Verdict.Linearizable:
                    searched++;
                    break;
                case Verdict.Undecided:
                    undecided++;
                    break;
                default:
                    violations.Add($"no order explains what was read from {document.Key}");
                    break;
            }
        }

        return new HistoryReport(history.Count, history.Count(operation => operation.Outcome == Outcome.Unknown), searched, undecided, violations);
    }

    /// <inheritdoc/>
    public override string ToString() => string.Join('\n',
        (string[])[.. Violations, $"{Operations} operations, {Unknown} of unknown outcome; {Searched} documents searched, {Undecided} given up; {(Violations.Count == 0 ? "linearizable" : $"{Violations.Count} violations")}"]);
}
