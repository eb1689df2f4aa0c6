using Rookery.Histories;

if (args is not ["check", var path])
{
    Console.Error.WriteLine(
        "usage: history check FILE (a line of JSON for each operation; - for standard input). Ends with 1 if no order "
            + "of the operations explains the answers to the clients, with 2 if too few operations were searched."
    );
    return 64;
}

using var lines = string.Equals(path, "-", StringComparison.Ordinal) ? Console.In : File.OpenText(path);
var report = HistoryReport.Of(HistoryFile.Read(lines));
Console.WriteLine(report.ToString());
return report.IsProof ? 0
    : report.Violations.Count > 0 ? 1
    : 2;
