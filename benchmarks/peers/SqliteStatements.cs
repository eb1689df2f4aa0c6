using Microsoft.Data.Sqlite;

namespace Rookery.Peers;

/// <summary>A prepared statement of SQLite, on a connection for each thread.</summary>
internal sealed class SqliteStatements(string file, string statement) : IQuerySubject, IDisposable
{
    private readonly List<IDisposable> _opened = [];

    public Func<AskedQuery, long> BeginSession()
    {
        var connection = new SqliteConnection($"Data Source={file};Mode=ReadOnly;Pooling=False");
        connection.Open();
        var command = connection.CreateCommand();
#pragma warning disable CA2100 // The statement is the benchmark's own.
        command.CommandText = statement;
#pragma warning restore CA2100
        var parameter = command.Parameters.Add("$p", SqliteType.Text);
        parameter.Value = string.Empty;
        command.Prepare();
        lock (_opened)
        {
            _opened.AddRange([command, connection]);
        }

        return asked =>
        {
            parameter.Value = asked.Parameter;
            using var reader = command.ExecuteReader();
            long count = 0;
            while (reader.Read())
            {
                _ = reader.GetString(0);
                count++;
            }

            return count;
        };
    }

    public void Dispose() => _opened.ForEach(static one => one.Dispose());
}
