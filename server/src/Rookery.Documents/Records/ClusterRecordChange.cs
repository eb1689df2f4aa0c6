namespace Rookery.Documents.Records;

/// <summary>A record of the cluster was stored or deleted.</summary>
/// <param name="Key">Its key.</param>
/// <param name="Version">Its version now; <see cref="ClusterRecord.Absent"/> when it was deleted.</param>
public readonly record struct ClusterRecordChange(string Key, long Version);
