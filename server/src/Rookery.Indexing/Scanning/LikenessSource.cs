namespace Rookery.Indexing.Scanning;

/// <summary>Finds the document that a condition compares with.</summary>
/// <param name="Finder">Its first result is that document; without one the query is wrong.</param>
/// <param name="Condition">Learns it.</param>
/// <param name="Position">Characters of the query before it.</param>
public sealed record LikenessSource(ScanPlan Finder, ILikenessCondition Condition, int Position);
