namespace Rookery.Documents;

/// <summary>What the node keeps about a database, apart from its contents.</summary>
internal sealed record DatabaseRecord(uint Number, string Name, string HistoryId, long CreatedTicks);
