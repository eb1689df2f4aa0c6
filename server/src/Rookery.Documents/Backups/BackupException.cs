namespace Rookery.Documents.Backups;

/// <summary>
/// Thrown if a backup fails, is incomplete or is damaged. The message states what, where and what to do.
/// </summary>
/// <param name="message">One or two sentences.</param>
public class BackupException(string message) : IOException(message);

/// <summary>Thrown if the backup does not contain the database that was asked for. Nothing was written.</summary>
/// <param name="message">One sentence.</param>
public sealed class MissingDatabaseException(string message) : BackupException(message);

/// <summary>Thrown if a directory that must be empty is not. Nothing was written to it.</summary>
/// <param name="message">One sentence.</param>
public sealed class DirectoryNotEmptyException(string message) : IOException(message);
