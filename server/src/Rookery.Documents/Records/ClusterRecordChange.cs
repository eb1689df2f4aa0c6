namespace Rookery.Documents.Records;

/// <summary>A cluster record was stored or deleted.</summary>
/// <param name="Key">The record's key.</param>
/// <param name="Version">The record's new version; <see cref="ClusterRecord.Absent"/> if it was deleted.</param>
public readonly record struct ClusterRecordChange(string Key, long Version);
